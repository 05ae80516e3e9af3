package ring

import (
	"net"
	"syscall"
)

// bell wakes the other process where it sleeps.
//
// It is a socket and not an eventfd: that would be one open file of both processes, whose flags and count the other one could set
// so that this side blocks.
type bell struct {
	raw  syscall.RawConn
	send func(fd uintptr) bool
}

func newBell(socket *net.UnixConn) (*bell, error) {
	raw, err := socket.SyscallConn()
	if err != nil {
		return nil, err
	}
	one := []byte{1}
	// Where there is no room for it, the other side has wakes enough that it didn't take yet; where it is gone, the reader finds out.
	send := func(fd uintptr) bool {
		_, _ = syscall.SendmsgN(int(fd), one, nil, nil, syscall.MSG_DONTWAIT|syscall.MSG_NOSIGNAL)
		return true
	}
	return &bell{raw, send}, nil
}

func (b *bell) ring() { _ = b.raw.Write(b.send) }
