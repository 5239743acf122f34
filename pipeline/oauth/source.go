package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/pipeline"
)

// When the next token is fetched, in parts of the present one's time, and how long after a failure.
const (
	earliest, spread = 0.6, 0.15
	endless          = 5 * time.Minute // for a token that does not say when it ends
	firstPause       = time.Second
	longestPause     = 15 * time.Second
	refusable        = 10 * time.Second // age from which a refused token is replaced
)

// Source has the token of the process.
type Source struct {
	key     string
	origin  origin
	direct  bool // fetching costs nothing, so every use does
	timeout time.Duration
	log     *zap.Logger
	users   int // guarded by the table of sources

	ctx    context.Context // ends with the last user's Close
	cancel context.CancelFunc

	mu      sync.Mutex // guards what follows
	token   Token
	since   time.Time     // when the token came
	fetched chan struct{} // is closed at the end of the fetch under way; nil = none is
	err     error         // of the last fetch
	paused  bool          // after it, until the timer
	pause   time.Duration // after the next failure
	timer   *time.Timer
}

// sources are those in use, by configuration: one process asks for one token.
var sources = struct {
	sync.Mutex
	by map[string]*Source
}{by: map[string]*Source{}}

// Open returns the source of a valid configuration. It fetches nothing, but looks whether the files are there.
func Open(c Config, log *zap.Logger) (*Source, error) {
	for key, file := range map[string]string{"client_secret_file": c.ClientSecretFile, "ca_file": c.CAFile, "token_file": c.TokenFile} {
		if file != "" {
			if _, err := os.Stat(file); err != nil {
				return nil, fmt.Errorf("%s: %w", key, err)
			}
		}
	}
	c.Extensions = nil
	text, err := json.Marshal(c)
	if err != nil {
		panic("oauth: " + err.Error())
	}
	sources.Lock()
	defer sources.Unlock()
	s := sources.by[string(text)]
	if s == nil {
		s = &Source{key: string(text), origin: c.origin(), direct: c.TokenFile != "", timeout: c.Timeout, log: log, pause: firstPause}
		if s.timeout == 0 {
			s.timeout = defaultTimeout
		}
		s.ctx, s.cancel = context.WithCancel(context.Background())
		sources.by[s.key] = s
	}
	s.users++
	return s, nil
}

// Close ends one use; the last one's end stops fetching.
func (s *Source) Close() {
	sources.Lock()
	defer sources.Unlock()
	if s.users--; s.users > 0 {
		return
	}
	delete(sources.by, s.key)
	s.cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer != nil {
		s.timer.Stop()
	}
}

// Token returns the present token. If there is none that lives, it waits for the fetch under way, or says why the last
// one failed.
func (s *Source) Token(ctx context.Context) (Token, error) {
	if s.direct {
		return s.read(ctx)
	}
	token, fetched, err := s.present()
	if fetched == nil {
		return token, err
	}
	began := time.Now()
	select {
	case <-fetched:
		token, _, err = s.present()
		return token, err
	case <-ctx.Done():
		return Token{}, fmt.Errorf("token from %s: nothing after %v", s.origin.name, time.Since(began).Round(time.Millisecond))
	}
}

// present returns a token that lives, or else a fetch to wait for, or why there is neither.
func (s *Source) present() (Token, <-chan struct{}, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	switch {
	case s.token.lives(now):
		return s.token, nil, nil
	case s.paused || s.ctx.Err() != nil:
		return Token{}, nil, s.whyNone(now)
	}
	s.start()
	return Token{}, s.fetched, nil
}

// whyNone says why there is no token. mu is locked.
func (s *Source) whyNone(now time.Time) error {
	err := fmt.Errorf("token from %s: %w", s.origin.name, s.err)
	if s.token.text != "" {
		return fmt.Errorf("the token ended %v ago, and there is no other: %w", now.Sub(s.token.end).Round(time.Second), err)
	}
	return err
}

// read fetches at once, and falls back on the token that it returned before while that lives.
func (s *Source) read(ctx context.Context) (Token, error) {
	token, err := s.origin.fetch(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err == nil:
		s.token = token
	case s.token.lives(time.Now()):
		s.log.Warn("token cannot be read; using the one before", zap.Error(err), zap.Stringer("token", s.token))
	default:
		return Token{}, fmt.Errorf("%s: %w", s.origin.name, err)
	}
	return s.token, nil
}

// Refused says that somebody did not accept the token. It is replaced, unless it has just come.
func (s *Source) Refused(t Token) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.token.text == t.text && !s.paused && time.Since(s.since) >= refusable && s.ctx.Err() == nil {
		s.start()
	}
}

// start begins a fetch unless one is under way. mu is locked.
func (s *Source) start() {
	if s.fetched != nil {
		return
	}
	s.fetched, s.paused = make(chan struct{}), false
	if s.timer != nil {
		s.timer.Stop()
	}
	go s.fetch()
}

// again begins a fetch when the timer says so.
func (s *Source) again() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() == nil {
		s.start()
	}
}

func (s *Source) fetch() {
	ctx, cancel := context.WithTimeout(s.ctx, s.timeout)
	defer cancel()
	token, err := s.origin.fetch(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("no answer within %v", s.timeout) // not the end of a caller's context
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.fetched)
	s.fetched = nil
	if s.ctx.Err() != nil {
		s.err = errors.New("closed")
		return
	}
	now := time.Now()
	s.log.Debug("token fetched", zap.String("from", s.origin.name), zap.Error(err))
	if err == nil {
		s.renewed(token, now)
	} else {
		s.failed(err, now)
	}
}

// renewed takes a new token. mu is locked.
func (s *Source) renewed(token Token, now time.Time) {
	if s.err != nil {
		s.log.Info("token renewed again", zap.String("from", s.origin.name), zap.Stringer("token", token))
	}
	s.token, s.since, s.err, s.pause = token, now, nil, firstPause
	wait := endless
	if !token.end.IsZero() {
		wait = max(firstPause, time.Duration(float64(token.end.Sub(now))*(earliest+spread*rand.Float64())))
	}
	s.timer = time.AfterFunc(wait, s.again)
}

// failed waits for the next attempt. Once there was a token, every failure may pass. mu is locked.
func (s *Source) failed(err error, now time.Time) {
	if s.token.text != "" && pipeline.IsPermanent(err) {
		err = errors.New(err.Error())
	}
	s.err, s.paused = err, true
	if s.token.lives(now) {
		s.log.Warn("token not renewed; trying again while the present one lives",
			zap.String("from", s.origin.name), zap.Error(err), zap.Stringer("token", s.token))
	} else {
		s.log.Warn("no token", zap.Error(s.whyNone(now)))
	}
	s.timer = time.AfterFunc(s.pause/2+rand.N(s.pause), s.again)
	s.pause = min(2*s.pause, longestPause)
}
