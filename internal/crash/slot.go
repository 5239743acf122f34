package crash

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/eerf-stream/eerf/internal/failpoint"
)

// lookEvery is how often to check whether a process has stopped itself.
const lookEvery = 20 * time.Millisecond

// slot keeps a process running, one after another.
type slot struct {
	*run
	Slot
	arms int // how many Arms have been used

	mu      sync.Mutex
	current *process // nil = none
	doomed  bool     // current was told to end
	closing bool     // start no further process
}

// keep starts processes until the schedule is over.
func (s *slot) keep(ctx context.Context) {
	if !sleep(ctx, s.Start) {
		return
	}
	for {
		p, ok := s.start()
		if !ok {
			return
		}
		s.watch(ctx, p)
		if !s.judge(p) || !sleep(ctx, s.Respawn) {
			return
		}
	}
}

func (s *slot) start() (*process, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return nil, false
	}
	var arm failpoint.Trigger
	if s.arms < len(s.Arms) {
		arm = s.Arms[s.arms]
	}
	s.arms++
	args := append([]string{"run", "--stages", s.Role.stages()}, s.settings...)
	p, err := startProcess(filepath.Join(s.dir, s.Name+".log"), arm, s.Clock, s.Program, args...)
	if err != nil {
		s.fault("%v", err)
		return nil, false
	}
	s.note("%s starts (pid %d) %v", s.Name, p.cmd.Process.Pid, arm)
	s.current, s.doomed = p, false
	return p, true
}

// watch returns when a process ends. One that stops itself is resumed after the plan's time.
func (s *slot) watch(ctx context.Context, p *process) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-p.done:
			return
		case <-tick.C:
		}
		if hit := p.reached(); strings.HasSuffix(hit, string(failpoint.Stop)) {
			s.hit(hit)
			s.freeze(ctx, p, s.plan.Freeze, false)
			<-p.done
			return
		}
	}
}

// judge decides whether the end of a process was intended, and reports whether another one follows.
func (s *slot) judge(p *process) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	hit := p.reached()
	if strings.HasSuffix(hit, string(failpoint.Kill)) {
		s.hit(hit)
	}
	switch {
	case p.endedBy(syscall.SIGKILL):
		s.note("%s is gone", s.Name)
	case s.doomed && (p.err == nil || p.endedBy(syscall.SIGTERM)): // the latter before it handled signals
		s.note("%s has ended", s.Name)
	case s.doomed && p.exitCode() == exitUnfinished && (p.stopped.Load() || !s.closing && s.plan.brokerDies()):
		s.note("%s has ended with work in hand", s.Name)
	default:
		s.fault("%s ended by itself: %v\n%s", s.Name, p.err, p.tail())
		s.giveUp()
		return false
	}
	return !s.closing
}

// with calls do with the running process, if there is one.
func (s *slot) with(do func(*process)) {
	s.mu.Lock()
	p := s.current
	s.mu.Unlock()
	if p != nil && !p.ended() {
		do(p)
	}
}

// freeze stops a process, unless it has stopped itself, and resumes it.
func (s *slot) freeze(ctx context.Context, p *process, d time.Duration, send bool) {
	p.stopped.Store(true)
	if send {
		p.signal(syscall.SIGSTOP)
	}
	s.note("%s is stopped for %v", s.Name, d)
	sleep(ctx, d)
	p.signal(syscall.SIGCONT)
	s.note("%s goes on", s.Name)
}

// terminate asks a process to end, once: a second signal would make it drop everything.
func (s *slot) terminate(p *process) {
	s.mu.Lock()
	again := s.doomed
	s.doomed = true
	s.mu.Unlock()
	if again {
		return
	}
	s.note("%s is asked to end", s.Name)
	p.signal(syscall.SIGTERM)
}

// close ends the process in an orderly way, within limit.
func (s *slot) close(limit time.Duration) {
	s.mu.Lock()
	s.closing = true
	p := s.current
	s.mu.Unlock()
	if p == nil || p.ended() {
		return
	}
	p.signal(syscall.SIGCONT)
	s.terminate(p)
	select {
	case <-p.done:
	case <-time.After(limit):
		s.fault("%s has not ended %v after it was told to\n%s", s.Name, limit, p.tail())
		p.kill()
	}
}

// sleep waits; false means that ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// hit counts a trigger that acted.
func (r *run) hit(trigger string) {
	r.mu.Lock()
	r.result.Hits[trigger]++
	r.mu.Unlock()
	r.note("reached %s", trigger)
}

// fault records a violation.
func (r *run) fault(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	r.mu.Lock()
	r.result.Faults = append(r.result.Faults, text)
	r.mu.Unlock()
	r.note("FAULT %s", text)
}

// note adds a line to the log of the run.
func (r *run) note(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(r.log, "%7.3f "+format+"\n", append([]any{time.Since(r.began).Seconds()}, args...)...)
}
