//go:build cgo && linux && (amd64 || arm64)

package fastcall

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// toolchains are the Go versions that fastcall is tested with, each at its last known patch.
var toolchains = []string{"go1.24.11", "go1.25.5", "go1.26.8", "go1.27.0"}

// TestToolchains builds a program with each Go version in every build mode and expects the fast path; with wrong
// offsets it expects cgo and a reason. With -short, only the version that runs the test is used.
func TestToolchains(t *testing.T) {
	own := runtime.Version()
	versions := []string{own}
	for _, version := range toolchains {
		if version != own {
			versions = append(versions, version)
		}
	}
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			if version != own && testing.Short() {
				t.Skipf("NOT TESTED with %s because of -short", version)
			}
			builder := builder{t: t, environment: []string{"GOTOOLCHAIN=" + version}, folder: t.TempDir()}
			if output, err := builder.command("go", "version").CombinedOutput(); err != nil {
				t.Skipf("NOT TESTED with %s, which can't be fetched: %s", version, output)
			}
			testToolchain(builder)
		})
	}
}

func testToolchain(b builder) {
	native := runtime.GOOS + "/" + runtime.GOARCH
	fast := "fastcall: assembly: all 7 checks hold (" + b.version() + " " + native + ")"
	program := b.build("program", "./testdata/program")
	b.expect(fast, nil, program)
	b.expect("fastcall: cgo: EDDY_FASTCALL=0", []string{"EDDY_FASTCALL=0"}, program)
	b.expect("fastcall: checked assembly: EDDY_FASTCALL=check", []string{"EDDY_FASTCALL=check"}, program)
	b.expectDeath("exitsyscall: syscall frame is no longer valid", nil, program, "callback")
	b.expectDeath("#cgo nocallback called back into Go", []string{"EDDY_FASTCALL=0"}, program, "callback")

	b.expect(fast, nil, b.build("pie", "-buildmode=pie", "./testdata/program"))
	b.expect(fast, nil, b.build("unoptimized", "-gcflags=all=-N -l", "./testdata/program"))
	b.expect(fast, nil, b.build("checkptr", "-gcflags=-d=checkptr=2", "./testdata/program"))
	b.expect(fast, nil, b.build("race", "-race", "./testdata/program"))

	library := b.build("library.so", "-buildmode=c-shared", "./testdata/program")
	driver := b.compileDriver()
	b.expect(fast, nil, driver, library)
	b.expect("fastcall: cgo: EDDY_FASTCALL=0", []string{"EDDY_FASTCALL=0"}, driver, library)

	for mutant := range 4 {
		tag := fmt.Sprintf("-tags=fastcall_mutant%d", mutant+1)
		b.expect("fastcall: cgo: the ", nil, b.build(tag, tag, "./testdata/program"))
		b.expect("fastcall: cgo: the ", nil, driver, b.build(tag+".so", tag, "-buildmode=c-shared", "./testdata/program"))
	}

	b.environment = append(b.environment, "CGO_ENABLED=0")
	b.expectDeath(messageWithoutCgo, nil, b.build("nocgo", "./testdata/nocgo"))
}

// TestArm64 runs the assembly of the other architecture in an emulator, if that and a compiler are available.
func TestArm64(t *testing.T) {
	if runtime.GOARCH == "arm64" {
		t.Skip("the other tests are of arm64 already")
	}
	b := builder{t: t, environment: []string{"GOARCH=arm64", "CC=aarch64-linux-gnu-gcc", "CGO_ENABLED=1"}, folder: t.TempDir()}
	compiler, errCompiler := exec.LookPath("aarch64-linux-gnu-gcc")
	emulator, errEmulator := exec.LookPath("qemu-aarch64-static")
	if err := errors.Join(errCompiler, errEmulator); err != nil {
		t.Skip("NOT TESTED on arm64: apt-get install qemu-user-static gcc-aarch64-linux-gnu libc6-dev-arm64-cross: ", err)
	}
	t.Logf("%s, %s", compiler, emulator)
	b.emulator = []string{emulator, "-L", "/usr/aarch64-linux-gnu"}
	program := b.build("program", "./testdata/program")
	b.expect("fastcall: assembly: all 7 checks hold", nil, program)
	b.expect("fastcall: cgo: EDDY_FASTCALL=0", []string{"EDDY_FASTCALL=0"}, program)
	b.expectDeath("exitsyscall: syscall frame is no longer valid", nil, program, "callback")
	library := b.build("library.so", "-buildmode=c-shared", "./testdata/program")
	b.expect("fastcall: assembly: all 7 checks hold", nil, b.compileDriver(), library)
	for mutant := range 4 {
		tag := fmt.Sprintf("-tags=fastcall_mutant%d", mutant+1)
		b.expect("fastcall: cgo: the ", nil, b.build(tag, tag, "./testdata/program"))
	}
}

// builder builds and runs programs in an environment.
type builder struct {
	t           *testing.T
	environment []string
	folder      string
	emulator    []string
}

// build builds a package with options and returns the file.
func (b *builder) build(name string, arguments ...string) string {
	b.t.Helper()
	file := filepath.Join(b.folder, strings.TrimPrefix(name, "-tags="))
	command := b.command("go", append([]string{"build", "-buildvcs=false", "-o", file}, arguments...)...)
	if output, err := command.CombinedOutput(); err != nil {
		b.t.Fatalf("%s %v: %v\n%s", strings.Join(b.environment, " "), command.Args, err, output)
	}
	return file
}

func (b *builder) compileDriver() string {
	b.t.Helper()
	compiler := "gcc"
	for _, setting := range b.environment {
		if name, found := strings.CutPrefix(setting, "CC="); found {
			compiler = name
		}
	}
	file := filepath.Join(b.folder, "driver")
	command := b.command(compiler, "-O1", "-Wall", "-o", file, "testdata/driver/driver.c", "-ldl", "-lpthread")
	if output, err := command.CombinedOutput(); err != nil {
		b.t.Fatalf("%v: %v\n%s", command.Args, err, output)
	}
	return file
}

// expect runs a program that must succeed with output that starts with a text.
func (b *builder) expect(beginning string, environment []string, program ...string) {
	b.t.Helper()
	output, err := b.run(environment, program)
	if err != nil || !strings.HasPrefix(output, beginning) {
		b.t.Errorf("%v %v ended with %v and said:\n%s\nexpected: %s", environment, program, err, output, beginning)
		return
	}
	b.t.Logf("%s: %s", filepath.Base(program[len(program)-1]), strings.TrimSpace(output))
}

// expectDeath runs a program that must fail with a reason.
func (b *builder) expectDeath(reason string, environment []string, program ...string) {
	b.t.Helper()
	output, err := b.run(environment, program)
	var exit *exec.ExitError
	if !errors.As(err, &exit) || !strings.Contains(output, reason) {
		b.t.Errorf("%v %v ended with %v and said:\n%s\nexpected: %s", environment, program, err, output, reason)
	}
}

func (b *builder) run(environment, program []string) (string, error) {
	line := append(append([]string{}, b.emulator...), program...)
	command := b.command(line[0], line[1:]...)
	command.Env = append(command.Env, environment...)
	output, err := command.CombinedOutput()
	return string(output), err
}

func (b *builder) version() string {
	for _, setting := range b.environment {
		if version, found := strings.CutPrefix(setting, "GOTOOLCHAIN="); found {
			return version
		}
	}
	return runtime.Version()
}

func (b *builder) command(name string, arguments ...string) *exec.Cmd {
	command := exec.CommandContext(b.t.Context(), name, arguments...)
	command.WaitDelay = time.Second
	command.Env = append(os.Environ(), b.environment...)
	return command
}
