package ring

import (
	"net"
	"syscall"
)

// bell wakes the other process when it sleeps.
//
// It is a socket instead of an eventfd: an eventfd would be one open file of both processes, and the other process
// could set its flags and count such that this side blocks.
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
	// If the socket is full, the other side has enough unread wakes; if it is closed, the reader notices.
	send := func(fd uintptr) bool {
		_, _ = syscall.SendmsgN(int(fd), one, nil, nil, syscall.MSG_DONTWAIT|syscall.MSG_NOSIGNAL)
		return true
	}
	return &bell{raw, send}, nil
}

func (b *bell) ring() { _ = b.raw.Write(b.send) }
