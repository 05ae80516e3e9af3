package ring

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
)

// Listener is a place where other processes can ask for a link.
type Listener struct {
	listener *net.UnixListener
	options  Options
}

// Listen listens at a path, at which nothing may lie yet. Only processes of the same user can connect.
func Listen(path string, options Options) (*Listener, error) {
	options, err := options.checked()
	if err != nil {
		return nil, err
	}
	config := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
		var failed error
		// The mode of the socket becomes that of the file it is bound to.
		err := raw.Control(func(fd uintptr) { failed = syscall.Fchmod(int(fd), 0o600) })
		return errors.Join(err, failed)
	}}
	listener, err := config.Listen(context.Background(), "unix", path)
	if err != nil {
		return nil, err
	}
	return &Listener{listener.(*net.UnixListener), options}, nil
}

// ErrNotLinked is what [Listener.Accept] returns when one process did not get a link; the next one may.
var ErrNotLinked = errors.New("a process did not get a link")

// Accept waits for the next process and makes a link with it.
func (l *Listener) Accept() (*Link, error) {
	socket, err := l.listener.AcceptUnix()
	if err != nil {
		return nil, err
	}
	link, err := Accept(socket, l.options)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotLinked, err)
	}
	return link, nil
}

// Close ends the listening, and removes the socket's file. Links stay.
func (l *Listener) Close() error { return l.listener.Close() }

// Dial connects to a process that listens at a path.
func Dial(ctx context.Context, path string, options Options) (*Link, error) {
	socket, err := new(net.Dialer).DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	return Connect(socket.(*net.UnixConn), options)
}

// Connect makes a link over a socket whose other end somebody has who calls [Accept], such as a child process that inherited it. The
// socket is the link's from then on.
func Connect(socket *net.UnixConn, options Options) (*Link, error) {
	return join(socket, options, true)
}

// Accept makes a link over a socket whose other end somebody has who calls [Connect]. The socket is the link's from then on.
func Accept(socket *net.UnixConn, options Options) (*Link, error) {
	return join(socket, options, false)
}

func join(socket *net.UnixConn, options Options, isConnector bool) (*Link, error) {
	options, err := options.checked()
	if err != nil {
		return nil, errors.Join(err, socket.Close())
	}
	agree := accept
	if isConnector {
		agree = offer
	}
	m, a, err := agree(socket, &options)
	if err != nil {
		return nil, errors.Join(err, socket.Close())
	}
	return start(socket, m, isConnector, options, a)
}

// FileConn is the socket of a descriptor that the process inherited.
func FileConn(file *os.File) (*net.UnixConn, error) {
	conn, err := net.FileConn(file)
	if err != nil {
		return nil, err
	}
	socket, isUnix := conn.(*net.UnixConn)
	if !isUnix {
		return nil, errors.Join(errors.New("the descriptor is not that of a Unix socket"), conn.Close())
	}
	return socket, nil
}
