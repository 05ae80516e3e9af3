package ring

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"
)

// memory is a mapping that another process may change at any time. Its size is sealed: neither process can remove pages
// while the other uses them. It is unmapped when it is no longer referenced.
type memory struct {
	bytes []byte
	words []uint64 // the same memory
}

// createMemory creates zeroed memory and the file with which another process can map it.
func createMemory(size int) (*memory, *os.File, error) {
	name := [...]byte{'e', 'd', 'd', 'y', '-', 'r', 'i', 'n', 'g', 0}
	fd, _, errno := syscall.Syscall(sysMemfdCreate, uintptr(unsafe.Pointer(&name)), mfdCloexec|mfdAllowSealing, 0)
	if errno != 0 {
		return nil, nil, fmt.Errorf("shared memory can't be created: %w", errno)
	}
	file := os.NewFile(fd, "eddy-ring")
	if err := file.Truncate(int64(size)); err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	if _, _, errno := syscall.Syscall(syscall.SYS_FCNTL, fd, fAddSeals, seals); errno != 0 {
		return nil, nil, errors.Join(fmt.Errorf("shared memory can't be sealed: %w", errno), file.Close())
	}
	m, err := mapMemory(file, size)
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return m, file, nil
}

// adoptMemory maps memory of another process, if it has the properties that createMemory guarantees.
func adoptMemory(file *os.File, size int) (*memory, error) {
	var system syscall.Statfs_t
	if err := syscall.Fstatfs(int(file.Fd()), &system); err != nil {
		return nil, err
	}
	// Pages of other file systems (huge pages, FUSE) may be unavailable.
	if system.Type != tmpfsMagic {
		return nil, errors.New("the descriptor is not shared memory")
	}
	got, _, errno := syscall.Syscall(syscall.SYS_FCNTL, file.Fd(), fGetSeals, 0)
	if errno != 0 || got&seals != seals {
		return nil, errors.New("the size of the shared memory is not sealed")
	}
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() != int64(size) {
		return nil, errors.New("the size of the shared memory differs from the handshake")
	}
	return mapMemory(file, size)
}

func mapMemory(file *os.File, size int) (*memory, error) {
	bytes, err := syscall.Mmap(int(file.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	runtime.KeepAlive(file)
	if err != nil {
		return nil, fmt.Errorf("shared memory can't be mapped: %w", err)
	}
	words := unsafe.Slice((*uint64)(unsafe.Pointer(&bytes[0])), size/wordBytes)
	m := &memory{bytes: bytes, words: words}
	runtime.AddCleanup(m, func(bytes []byte) { _ = syscall.Munmap(bytes) }, bytes)
	return m, nil
}

const (
	mfdCloexec      = 1
	mfdAllowSealing = 2
	fAddSeals       = 1033
	fGetSeals       = 1034
	seals           = 1 | 2 | 4 // F_SEAL_SEAL, F_SEAL_SHRINK, F_SEAL_GROW
	tmpfsMagic      = 0x01021994
)
