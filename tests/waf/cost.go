package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/corazawaf/coraza/v3/types"
)

// scenario is a request of a browser that the firewall lets pass.
type scenario struct {
	name    string
	request []byte
}

const browser = "Host: www.example.com\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0\r\nAccept: text/html,application/xhtml+xml\r\n"

func scenarios() []scenario {
	var many strings.Builder
	for i := range 17 {
		fmt.Fprintf(&many, "X-Field-%d: value number %d of a request with many headers\r\n", i, i)
	}
	var form strings.Builder
	for i := 0; form.Len() < 2048; i++ {
		fmt.Fprintf(&form, "field%d=some+words+of+a+visitor+of+the+site&", i)
	}
	body := form.String()[:2048-len("last=1")] + "last=1"
	return []scenario{
		{"GET", []byte("GET /shop/items?page=2&sort=price HTTP/1.1\r\n" + browser + "\r\n")},
		{"GET with 20 headers", []byte("GET /shop/items?page=2&sort=price HTTP/1.1\r\n" + browser + many.String() + "\r\n")},
		{"POST of 2 KiB", []byte("POST /shop/comment HTTP/1.1\r\n" + browser + "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: " +
			strconv.Itoa(len(body)) + "\r\n\r\n" + body)},
	}
}

// target is a server under load.
type target struct {
	name, address string
	process       int
}

// figure is the median of the windows of a scenario and a target.
type figure struct {
	Scenario string `json:"scenario"`
	Target   string `json:"target"`
	// CPU is the CPU time per request, in microseconds: the median, and the range of the middle half.
	CPU    float64 `json:"cpu_us"`
	CPULow float64 `json:"cpu_us_p25"`
	CPUTop float64 `json:"cpu_us_p75"`
	// Rate is the number of requests per second.
	Rate float64 `json:"requests_per_second"`
}

// costs is the result of a measurement.
type costs struct {
	Commit  string   `json:"commit"`
	Windows int      `json:"windows"`
	Seconds float64  `json:"window_seconds"`
	Load    string   `json:"load_average"`
	Figures []figure `json:"figures"`
}

// serveNative serves Coraza's own handler until standard input ends, and prints its address.
func serveNative(backend string) error {
	handler, err := native(block(), backend, func(types.MatchedRule) {})
	if err != nil {
		return err
	}
	l, err := listen()
	if err != nil {
		return err
	}
	fmt.Println(serve(l, handler))
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// measure loads all targets in turn, in short windows, so that other work on the machine meets all of them.
func measure(program, folder string, only *regexp.Regexp, windows int, window time.Duration, connections int) (*costs, error) {
	l, err := listen()
	if err != nil {
		return nil, err
	}
	to := serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<p>hello</p>\n")
	}))
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	other := exec.Command(self, "-serve-native", to)
	input, err := other.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := other.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := other.Start(); err != nil {
		return nil, err
	}
	defer func() { _ = input.Close(); _ = other.Wait() }()
	address, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("the native server did not start: %w", err)
	}
	blocking := block()
	g, err := start(program, folder, to, "", 1, site{config: &blocking}, site{config: &blocking, blocking: true}, site{})
	if err != nil {
		return nil, err
	}
	defer g.stop()
	targets := []target{
		{"net/http and Coraza", strings.TrimSpace(address), other.Process.Pid},
		{"eddy and Coraza", g.addresses[0], g.command.Process.Pid},
		{"eddy and Coraza, `blocking: true`", g.addresses[1], g.command.Process.Pid},
		{"eddy without filter", g.addresses[2], g.command.Process.Pid},
	}
	targets = slices.DeleteFunc(targets, func(t target) bool { return !only.MatchString(t.name) })
	c := &costs{Commit: commit(), Windows: windows, Seconds: window.Seconds()}
	for _, s := range scenarios() {
		cpu, rate := make([][]float64, len(targets)), make([][]float64, len(targets))
		for round := range windows + 1 {
			for i, t := range targets {
				us, perSecond, err := load(t, s, window, connections)
				if err != nil {
					return nil, fmt.Errorf("%s, %s: %w", s.name, t.name, err)
				}
				// The first round warms up.
				if round > 0 {
					cpu[i], rate[i] = append(cpu[i], us), append(rate[i], perSecond)
				}
			}
		}
		for i, t := range targets {
			slices.Sort(cpu[i])
			slices.Sort(rate[i])
			n := len(cpu[i])
			c.Figures = append(c.Figures, figure{s.name, t.name, cpu[i][n/2], cpu[i][n/4], cpu[i][n*3/4], rate[i][n/2]})
		}
	}
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		c.Load = strings.Join(strings.Fields(string(text))[:3], " ")
	}
	return c, nil
}

// load sends a request again and again over some connections. It returns the CPU time of the target for each, in
// microseconds, and the requests per second.
func load(t target, s scenario, window time.Duration, connections int) (cpu, rate float64, err error) {
	var done atomic.Int64
	var failed atomic.Pointer[error]
	before, err := cpuTime(t.process)
	if err != nil {
		return 0, 0, err
	}
	began := time.Now()
	var group sync.WaitGroup
	for range connections {
		group.Go(func() {
			if err := send(t.address, s.request, began.Add(window), &done); err != nil {
				failed.Store(&err)
			}
		})
	}
	group.Wait()
	took := time.Since(began)
	if err := failed.Load(); err != nil {
		return 0, 0, *err
	}
	after, err := cpuTime(t.process)
	if err != nil {
		return 0, 0, err
	}
	n := float64(done.Load())
	return float64((after - before).Nanoseconds()) / 1000 / n, n / took.Seconds(), nil
}

func send(address string, request []byte, until time.Time, done *atomic.Int64) error {
	connection, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer connection.Close()
	if err := connection.SetDeadline(until.Add(30 * time.Second)); err != nil {
		return err
	}
	reader := bufio.NewReader(connection)
	for time.Now().Before(until) {
		if _, err := connection.Write(request); err != nil {
			return err
		}
		response, err := http.ReadResponse(reader, nil)
		if err != nil {
			return err
		}
		if _, err := io.Copy(io.Discard, response.Body); err != nil {
			return err
		}
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("a clean request got %s", response.Status)
		}
		done.Add(1)
	}
	return nil
}

// cpuTime returns the CPU time of a process and its descendants.
func cpuTime(process int) (time.Duration, error) {
	total := time.Duration(0)
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", process))
	if err != nil || len(tasks) == 0 {
		return 0, fmt.Errorf("there is no process %d", process)
	}
	for _, task := range tasks {
		// A thread may end meanwhile.
		if text, err := os.ReadFile(task + "/schedstat"); err == nil {
			nanoseconds, _, _ := bytes.Cut(text, []byte(" "))
			n, err := strconv.ParseInt(string(nanoseconds), 10, 64)
			if err != nil {
				return 0, err
			}
			total += time.Duration(n)
		}
		children, err := os.ReadFile(task + "/children")
		if err != nil {
			continue
		}
		for _, child := range strings.Fields(string(children)) {
			id, err := strconv.Atoi(child)
			if err != nil {
				return 0, err
			}
			if more, err := cpuTime(id); err == nil {
				total += more
			}
		}
	}
	return total, nil
}

// write writes a result as JSON.
func write(file string, result any) error {
	text, err := json.MarshalIndent(result, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}
