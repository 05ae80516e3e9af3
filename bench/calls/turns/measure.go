package turns

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// built is what is measured with one version.
type built struct {
	version  string
	commands [][]string
}

// measure builds everything, then gives each version its turns.
func measure(suite Suite, p Plan) (*Results, error) {
	folder, err := os.MkdirTemp("", "bench-"+suite.ID+"-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder) //nolint:errcheck // a folder left behind harms nobody
	if suite.Prepare != nil {
		if err := suite.Prepare(p); err != nil {
			return nil, err
		}
	}
	results := newResults(suite, p)
	var all []built
	for _, version := range p.Versions {
		fmt.Printf("building the Go side with %s\n", version)
		commands, err := suite.Build(p, folder, version)
		if err != nil {
			fmt.Printf("NOT MEASURED: %s: %v\n", version, err)
			results.Skipped = append(results.Skipped, version)
			continue
		}
		all = append(all, built{version, commands})
		results.Versions = append(results.Versions, version)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no version of Go could be used")
	}
	// Versions take turns, so that a slow minute of the machine meets all of them.
	for round := range p.Rounds {
		for _, one := range all {
			begun := time.Now()
			fmt.Printf("round %d of %d, %s: ", round+1, p.Rounds, one.version)
			for _, command := range one.commands {
				if err := results.take(one.version, exec.Command(command[0], command[1:]...)); err != nil {
					return nil, err
				}
			}
			fmt.Printf("%.0f s\n", time.Since(begun).Seconds())
		}
	}
	return results, results.check()
}

// take runs a program and takes its lines over.
func (r *Results) take(version string, command *exec.Cmd) error {
	var logged_errors bytes.Buffer
	command.Stderr = &logged_errors
	output, err := command.Output()
	if err != nil {
		return fmt.Errorf("%v: %w\n%s", command.Args, err, logged_errors.String())
	}
	// Programs of Go say first which way their calls go.
	if way := strings.TrimSpace(logged_errors.String()); way != "" {
		r.Ways[version] = way
	}
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
