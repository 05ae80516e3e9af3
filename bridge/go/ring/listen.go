package ring

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
)

// Listener accepts links from other processes.
type Listener struct {
	listener *net.UnixListener
	options  Options
}

// Listen listens at a path, which must not exist. Only processes of the same user can connect.
func Listen(path string, options Options) (*Listener, error) {
	options, err := options.checked()
	if err != nil {
		return nil, err
	}
	config := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
		var failed error
		// The file gets the mode of the socket that is bound to it.
		err := raw.Control(func(fd uintptr) { failed = syscall.Fchmod(int(fd), 0o600) })
		return errors.Join(err, failed)
	}}
	listener, err := config.Listen(context.Background(), "unix", path)
	if err != nil {
		return nil, err
	}
	return &Listener{listener.(*net.UnixListener), options}, nil
}

// ErrNotLinked is returned by [Listener.Accept] if one process did not get a link; the next one may.
var ErrNotLinked = errors.New("a process did not get a link")

// Accept waits for the next process and establishes a link with it.
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

// Close stops listening and removes the socket file. Links remain open.
func (l *Listener) Close() error { return l.listener.Close() }

// Dial connects to a process that listens at a path.
func Dial(ctx context.Context, path string, options Options) (*Link, error) {
	socket, err := new(net.Dialer).DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	return Connect(socket.(*net.UnixConn), options)
}

// Connect establishes a link over a socket whose other end calls [Accept], for example in a child process that
// inherited it. The link owns the socket.
func Connect(socket *net.UnixConn, options Options) (*Link, error) {
	return join(socket, options, true)
}

// Accept establishes a link over a socket whose other end calls [Connect]. The link owns the socket.
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

// FileConn returns the socket of an inherited descriptor.
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
