package ring

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"time"
)

// Handshake over the socket: the connecting side sends its limits and passes the shared memory; the other side answers
// with its own limits, or rejects. Each message has 40 bytes: eight letters, the version, a status, the ring size, the
// message limit and the limit of concurrent calls.

// agreed has the limits of the other side.
type agreed struct {
	ringBytes       int
	messageBytesMax int
	callsMax        int
}

// offer offers a link and waits for the answer.
func offer(socket *net.UnixConn, o *Options) (*memory, agreed, error) {
	m, file, err := createMemory(memoryBytes(o.RingBytes))
	if err != nil {
		return nil, agreed{}, err
	}
	defer file.Close() //nolint:errcheck // the mapping remains valid
	if err := socket.SetDeadline(time.Now().Add(o.Handshake)); err != nil {
		return nil, agreed{}, err
	}
	rights := syscall.UnixRights(int(file.Fd()))
	if _, _, err := socket.WriteMsgUnix(hello(statusAccepted, o.RingBytes, o), rights, nil); err != nil {
		return nil, agreed{}, explained(err, o)
	}
	var answer [helloBytes]byte
	if err := readHello(socket, answer[:], o); err != nil {
		return nil, agreed{}, err
	}
	status, a, err := parseHello(answer[:])
	switch {
	case err != nil:
		return nil, a, err
	case status != statusAccepted:
		return nil, a, fmt.Errorf("the other process rejected the link: %s", reason(status))
	case a.ringBytes != o.RingBytes:
		return nil, a, errors.New("the handshake of the other process is invalid: the ring size differs from the offer")
	}
	return m, a, socket.SetDeadline(time.Time{})
}

// accept waits for an offer and accepts or rejects it.
func accept(socket *net.UnixConn, o *Options) (*memory, agreed, error) {
	if err := socket.SetDeadline(time.Now().Add(o.Handshake)); err != nil {
		return nil, agreed{}, err
	}
	said, file, err := receive(socket, o)
	if err != nil {
		return nil, agreed{}, err
	}
	if file != nil {
		defer file.Close() //nolint:errcheck // the mapping remains valid
	}
	m, a, status, err := check(said, file, o)
	ringBytes := o.RingBytes
	if err == nil {
		ringBytes = a.ringBytes
	}
	if _, failed := socket.Write(hello(status, ringBytes, o)); err == nil && failed != nil {
		err = explained(failed, o)
	}
	if err != nil {
		return nil, a, err
	}
	return m, a, socket.SetDeadline(time.Time{})
}

func check(said []byte, file *os.File, o *Options) (*memory, agreed, uint32, error) {
	_, a, err := parseHello(said)
	switch {
	case err != nil:
		return nil, a, statusHelloRefused, err
	case !isRingSize(a.ringBytes) || a.ringBytes > o.RingBytes:
		return nil, a, statusHelloRefused, errors.New("the handshake of the other process is invalid: the offered ring size is not allowed here")
	case file == nil:
		return nil, a, statusHelloRefused, errors.New("the handshake of the other process is invalid: no shared memory was passed")
	}
	m, err := adoptMemory(file, memoryBytes(a.ringBytes))
	if err != nil {
		return nil, a, statusMemoryRefused, fmt.Errorf("the shared memory of the other process can't be used: %w", err)
	}
	return m, a, statusAccepted, nil
}

// receive reads the first bytes of the other side and the descriptor passed with them.
func receive(socket *net.UnixConn, o *Options) ([]byte, *os.File, error) {
	said, control := make([]byte, helloBytes), make([]byte, syscall.CmsgSpace(4))
	count, controlCount, _, _, err := socket.ReadMsgUnix(said, control)
	if err != nil {
		return nil, nil, explained(err, o)
	}
	file := descriptor(control[:controlCount])
	if count == 0 {
		return nil, file, errors.New("the other process closed the socket before the link was established")
	}
	return said, file, readHello(socket, said[count:], o)
}

// descriptor returns the first passed descriptor; others are closed.
func descriptor(control []byte) *os.File {
	messages, err := syscall.ParseSocketControlMessage(control)
	if err != nil {
		return nil
	}
	var first *os.File
	for index := range messages {
		fds, err := syscall.ParseUnixRights(&messages[index])
		if err != nil {
			continue
		}
		for _, fd := range fds {
			if first == nil {
				first = os.NewFile(uintptr(fd), "eddy-ring")
				continue
			}
			_ = syscall.Close(fd)
		}
	}
	return first
}

func readHello(socket *net.UnixConn, into []byte, o *Options) error {
	for len(into) > 0 {
		count, err := socket.Read(into)
		if err != nil {
			return explained(err, o)
		}
		into = into[count:]
	}
	return nil
}

func hello(status uint32, ringBytes int, o *Options) []byte {
	said := append(make([]byte, 0, helloBytes), magic...)
	said = binary.NativeEndian.AppendUint32(said, version)
	said = binary.NativeEndian.AppendUint32(said, status)
	for _, number := range []int{ringBytes, o.MessageBytesMax, o.CallsMax} {
		said = binary.NativeEndian.AppendUint64(said, uint64(number))
	}
	return said
}

func parseHello(said []byte) (uint32, agreed, error) {
	if string(said[:8]) != magic {
		return 0, agreed{}, errors.New("the handshake of the other process is invalid: not an eddy ring handshake")
	}
	if binary.NativeEndian.Uint32(said[8:]) != version {
		return 0, agreed{}, errors.New("the handshake of the other process is invalid: another protocol version: build both sides from the same release")
	}
	number := func(at int) int { return int(min(binary.NativeEndian.Uint64(said[at:]), 1<<62)) }
	return binary.NativeEndian.Uint32(said[12:]), agreed{number(16), number(24), number(32)}, nil
}

func reason(status uint32) string {
	switch status {
	case statusHelloRefused:
		return "the offer was rejected, for example the ring size"
	case statusMemoryRefused:
		return "the shared memory can't be used"
	}
	return "no reason given"
}

func explained(err error, o *Options) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("the other process did not complete the handshake within %v: %w", o.Handshake, err)
	}
	return fmt.Errorf("the socket failed before the link was established: %w", err)
}

const (
	helloBytes = 40
	magic      = "eddyring"
	// Incremented with every incompatible change.
	version = 1

	statusAccepted      = 0
	statusHelloRefused  = 1
	statusMemoryRefused = 2
)
