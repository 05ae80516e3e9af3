package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// built is the Go side in one version.
type built struct {
	version string
	program string
	library string
}

// measure builds everything, then gives each version its turns.
func measure(p plan) (*results, error) {
	folder, err := os.MkdirTemp("", "bench-calls-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder) //nolint:errcheck // a folder left behind harms nobody
	host, err := buildHost(p)
	if err != nil {
		return nil, err
	}
	results := newResults(p)
	var all []built
	for _, version := range p.versions {
		guest, err := buildGuest(p, folder, version)
		if err != nil {
			fmt.Printf("NOT MEASURED: %s: %v\n", version, err)
			results.Skipped = append(results.Skipped, version)
			continue
		}
		all = append(all, guest)
		results.Versions = append(results.Versions, version)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no version of Go could be used")
	}
	// Versions take turns, so that a slow minute of the machine meets all of them.
	for round := range p.rounds {
		for _, guest := range all {
			begun := time.Now()
			fmt.Printf("round %d of %d, %s: ", round+1, p.rounds, guest.version)
			repeats := fmt.Sprint(p.repeats)
			if err := results.take(guest.version, exec.Command(guest.program, "-repeats", repeats)); err != nil {
				return nil, err
			}
			fmt.Print("Go side, ")
			if err := results.take(guest.version, exec.Command(host, guest.library, repeats)); err != nil {
				return nil, err
			}
			fmt.Printf("host side; %.0f s\n", time.Since(begun).Seconds())
		}
	}
	return results, results.check()
}

func buildHost(p plan) (string, error) {
	fmt.Println("building the host program")
	target := or(os.Getenv("CARGO_TARGET_DIR"), filepath.Join(p.root, "bench/calls/host/target"))
	target, err := filepath.Abs(target)
	if err != nil {
		return "", err
	}
	command := exec.Command("cargo", "build", "--release", "--quiet", "--manifest-path", filepath.Join(p.root, "bench/calls/host/Cargo.toml"))
	command.Env = append(os.Environ(), "CARGO_TARGET_DIR="+target)
	if output, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the host program: %w\n%s", err, output)
	}
	return filepath.Join(target, "release/eddy-bench-calls-host"), nil
}

func buildGuest(p plan, folder, version string) (built, error) {
	fmt.Printf("building the Go side with %s\n", version)
	guest := built{version, filepath.Join(folder, version), filepath.Join(folder, version+".so")}
	for _, arguments := range [][]string{{"-o", guest.program}, {"-buildmode=c-shared", "-o", guest.library}} {
		command := exec.Command("go", append(append([]string{"build", "-buildvcs=false"}, arguments...), "./guest")...)
		command.Dir = filepath.Join(p.root, "bench/calls")
		command.Env = append(os.Environ(), "GOTOOLCHAIN="+version, "CGO_ENABLED=1")
		if output, err := command.CombinedOutput(); err != nil {
			return guest, fmt.Errorf("%w: %.1000s", err, output)
		}
	}
	return guest, nil
}

// take runs a program and takes its lines over.
func (r *results) take(version string, command *exec.Cmd) error {
	var complaints bytes.Buffer
	command.Stderr = &complaints
	output, err := command.Output()
	if err != nil {
		return fmt.Errorf("%v: %w\n%s", command.Args, err, complaints.String())
	}
	// Both programs say first which way their calls go.
	r.Ways[version] = strings.TrimSpace(complaints.String())
	lines := bufio.NewScanner(bytes.NewReader(output))
	for lines.Scan() {
		var line struct {
			Row string `json:"row"`
			figure
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			return fmt.Errorf("%q: %w", lines.Text(), err)
		}
		if err := r.note(version, line.Row, line.figure); err != nil {
			return err
		}
	}
	return lines.Err()
}

// machine says where figures are from.
func machine() map[string]string {
	release, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	kernel, _, _ := strings.Cut(strings.TrimSpace(string(release)), "-")
	return map[string]string{
		"processor": processor(),
		"cores":     fmt.Sprint(runtime.NumCPU()),
		"kernel":    kernel,
		"rustc":     firstLine("rustc", "--version"),
		"cc":        firstLine("cc", "--version"),
	}
}

func processor() string {
	info, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(info)) {
		if name, value, found := strings.Cut(line, ":"); found && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

func firstLine(name string, arguments ...string) string {
	output, err := exec.Command(name, arguments...).Output()
	if err != nil {
		return "unknown"
	}
	line, _, _ := strings.Cut(string(output), "\n")
	return line
}
