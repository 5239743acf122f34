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

// lookEvery is the interval for detecting a process that stopped itself.
const lookEvery = 20 * time.Millisecond

// slot runs one process after another.
type slot struct {
	run *run
	Slot
	arms int // used triggers of Arms

	mu      sync.Mutex
	current *process // nil = none
	doomed  bool     // current has been asked to stop
	closing bool     // start no more processes
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
	args := append([]string{"run", "--stages", s.Role.stages()}, s.run.settings...)
	p, err := startProcess(filepath.Join(s.run.dir, s.Name+".log"), arm, s.Clock, s.run.Program, args...)
	if err != nil {
		s.run.fault("%v", err)
		return nil, false
	}
	s.run.note("%s starts (pid %d) %v", s.Name, p.cmd.Process.Pid, arm)
	s.current, s.doomed = p, false
	return p, true
}

// watch returns when a process ends. It resumes a process that stops itself after Plan.Freeze.
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
			s.run.hit(hit)
			s.freeze(ctx, p, s.run.plan.Freeze, false)
			<-p.done
			return
		}
	}
}

// judge checks that the end of a process was intended, and reports whether another process follows.
func (s *slot) judge(p *process) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	hit := p.reached()
	if strings.HasSuffix(hit, string(failpoint.Kill)) {
		s.run.hit(hit)
	}
	switch {
	case p.endedBy(syscall.SIGKILL):
		s.run.note("%s was killed", s.Name)
	// SIGTERM kills a process that does not handle signals yet
	case s.doomed && (p.err == nil || p.endedBy(syscall.SIGTERM)):
		s.run.note("%s has ended", s.Name)
	case s.doomed && p.exitCode() == exitUnfinished && (p.stopped.Load() || !s.closing && s.run.plan.brokerDies()):
		s.run.note("%s has ended with unfinished work", s.Name)
	default:
		s.run.fault("%s ended unexpectedly: %v\n%s", s.Name, p.err, p.tail())
		s.run.giveUp()
		return false
	}
	return !s.closing
}

// with calls do with the running process, if any.
func (s *slot) with(do func(*process)) {
	s.mu.Lock()
	p := s.current
	s.mu.Unlock()
	if p != nil && !p.ended() {
		do(p)
	}
}

// freeze stops a process, unless it has stopped itself, and resumes it later.
func (s *slot) freeze(ctx context.Context, p *process, d time.Duration, send bool) {
	p.stopped.Store(true)
	if send {
		p.signal(syscall.SIGSTOP)
	}
	s.run.note("%s is stopped for %v", s.Name, d)
	sleep(ctx, d)
	p.signal(syscall.SIGCONT)
	s.run.note("%s resumes", s.Name)
}

// terminate sends SIGTERM once: a second one would make the process drop its work.
func (s *slot) terminate(p *process) {
	s.mu.Lock()
	again := s.doomed
	s.doomed = true
	s.mu.Unlock()
	if again {
		return
	}
	s.run.note("%s is told to stop", s.Name)
	p.signal(syscall.SIGTERM)
}

// close stops the process, within limit.
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
		s.run.fault("%s is still running %v after SIGTERM\n%s", s.Name, limit, p.tail())
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

// hit counts a trigger that fired.
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
