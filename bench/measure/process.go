package measure

import (
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// A Command is a program to be timed as a whole.
type Command struct {
	Name string
	Args []string
	Env  []string     // nil: that of this process
	Dir  string       // where it runs
	Prep func() error // before each run, not timed; may be nil
}

// Process is what was measured of a command.
type Process struct {
	Name    string
	First   Spread // until the first byte of output, in milliseconds; zero when there was none
	Wall    Spread // milliseconds
	CPU     Spread // milliseconds of user and system
	Fastest float64
}

// Processes runs the commands in turn, each so many times.
func Processes(runs int, commands ...Command) ([]Process, error) {
	type figures struct{ first, wall, cpu []float64 }
	all := make([]figures, len(commands))
	for range runs {
		for i, c := range commands {
			if c.Prep != nil {
				if err := c.Prep(); err != nil {
					return nil, err
				}
			}
			s, err := once(c)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.Name, err)
			}
			f := &all[i]
			f.first, f.wall, f.cpu = append(f.first, s.first), append(f.wall, s.wall), append(f.cpu, s.cpu)
		}
	}
	out := make([]Process, len(commands))
	for i, c := range commands {
		f := all[i]
		out[i] = Process{Name: c.Name, First: spread(f.first), Wall: spread(f.wall), CPU: spread(f.cpu)}
		out[i].Fastest = out[i].Wall.Min / out[0].Wall.Min
	}
	return out, nil
}

type sample struct{ first, wall, cpu float64 }

func once(c Command) (s sample, err error) {
	cmd := exec.Command(c.Args[0], c.Args[1:]...)
	cmd.Env, cmd.Dir = c.Env, c.Dir
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		return s, err
	}
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return s, err
	}
	var one [1]byte
	if n, _ := out.Read(one[:]); n > 0 { // what is wrong shows in Wait
		s.first = millis(time.Since(begin))
	}
	_, copied := io.Copy(io.Discard, out)
	err = cmd.Wait()
	s.wall = millis(time.Since(begin))
	if err != nil {
		return s, fmt.Errorf("%w: %s", err, said.Bytes())
	}
	s.cpu = millis(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime())
	return s, copied
}

func millis(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }

// Memory is the most memory that a command held, in MiB: the median of some runs. It is asked of the program `time`, because
// a process that another has started inherits the figure of that one, and this one is not small.
func Memory(runs int, c Command) (float64, error) {
	var all []float64
	for range runs {
		if c.Prep != nil {
			if err := c.Prep(); err != nil {
				return 0, err
			}
		}
		cmd := exec.Command("time", append([]string{"-f", "%M", "--"}, c.Args...)...)
		cmd.Env, cmd.Dir = c.Env, c.Dir
		var said bytes.Buffer
		cmd.Stderr = &said
		if err := cmd.Run(); err != nil {
			return 0, fmt.Errorf("%s: %w: %s", c.Name, err, said.Bytes())
		}
		lines := strings.Split(strings.TrimSpace(said.String()), "\n")
		kib, err := strconv.ParseFloat(lines[len(lines)-1], 64)
		if err != nil {
			return 0, fmt.Errorf("%s: time said %q", c.Name, said.String())
		}
		all = append(all, kib/1024)
	}
	return spread(all).Median, nil
}
