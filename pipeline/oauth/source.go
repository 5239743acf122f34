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

// Times of the next fetch: fractions of the current token's lifetime, and pauses after failures.
const (
	earliest, spread = 0.6, 0.15
	withoutExpiry    = 5 * time.Minute // lifetime of a token without an expiry
	firstPause       = time.Second
	longestPause     = 15 * time.Second
	refusable        = 10 * time.Second // age from which a refused token is replaced
)

// Source holds the current token of the process.
type Source struct {
	key     string
	origin  origin
	direct  bool // fetching is cheap, so every use fetches
	timeout time.Duration
	log     *zap.Logger
	users   int // guarded by the mutex of sources

	ctx    context.Context // ends with the last user's Close
	cancel context.CancelFunc

	mu      sync.Mutex // guards the fields below
	token   Token
	since   time.Time     // when the token was fetched
	fetched chan struct{} // closed at the end of the fetch under way; nil = none
	err     error         // of the last fetch
	paused  bool          // after a failure, until the timer fires
	pause   time.Duration // after the next failure
	timer   *time.Timer
}

// sources are the open ones by configuration, so that a process fetches one token.
var sources = struct {
	sync.Mutex
	by map[string]*Source
}{by: map[string]*Source{}}

// Open returns the source of a valid configuration. It fetches nothing, but checks that the files
// exist.
func Open(c Config, log *zap.Logger) (*Source, error) {
	files := map[string]string{
		"client_secret_file": c.ClientSecretFile,
		"ca_file":            c.CAFile,
		"token_file":         c.TokenFile,
	}
	for key, file := range files {
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
		s = &Source{
			key:     string(text),
			origin:  c.origin(),
			direct:  c.TokenFile != "",
			timeout: c.Timeout,
			log:     log,
			pause:   firstPause,
		}
		if s.timeout == 0 {
			s.timeout = defaultTimeout
		}
		s.ctx, s.cancel = context.WithCancel(context.Background())
		sources.by[s.key] = s
	}
	s.users++
	return s, nil
}

// Close ends one use. The end of the last use stops fetching.
func (s *Source) Close() {
	sources.Lock()
	defer sources.Unlock()
	s.users--
	if s.users > 0 {
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

// Token returns the current token. Without a valid one it waits for the fetch under way, or returns
// the error of the last fetch.
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
		waited := time.Since(began).Round(time.Millisecond)
		return Token{}, fmt.Errorf("token from %s: no answer within %v", s.origin.name, waited)
	}
}

// present returns a valid token, or a fetch to wait for, or the reason for having neither.
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

// whyNone returns the reason for the lack of a token. mu is locked.
func (s *Source) whyNone(now time.Time) error {
	err := fmt.Errorf("token from %s: %w", s.origin.name, s.err)
	if s.token.text != "" {
		return fmt.Errorf("the token expired %v ago without a new one: %w", now.Sub(s.token.end).Round(time.Second), err)
	}
	return err
}

// read fetches at once, and falls back on the previous token while it is valid.
func (s *Source) read(ctx context.Context) (Token, error) {
	token, err := s.origin.fetch(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err == nil:
		s.token = token
	case s.token.lives(time.Now()):
		s.log.Warn("cannot read the token; using the previous one", zap.Error(err), zap.Stringer("token", s.token))
	default:
		return Token{}, fmt.Errorf("%s: %w", s.origin.name, err)
	}
	return s.token, nil
}

// Refused reports that a broker or registry did not accept the token. It is replaced unless it was
// just fetched.
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
	s.fetched = make(chan struct{})
	s.paused = false
	if s.timer != nil {
		s.timer.Stop()
	}
	go s.fetch()
}

// onTimer begins a fetch.
func (s *Source) onTimer() {
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
		s.log.Info("token renewed after failures", zap.String("from", s.origin.name), zap.Stringer("token", token))
	}
	s.token = token
	s.since = now
	s.err = nil
	s.pause = firstPause
	wait := withoutExpiry
	if !token.end.IsZero() {
		wait = max(firstPause, time.Duration(float64(token.end.Sub(now))*(earliest+spread*rand.Float64())))
	}
	s.timer = time.AfterFunc(wait, s.onTimer)
}

// failed schedules the next attempt. After a first token, all failures count as temporary. mu is
// locked.
func (s *Source) failed(err error, now time.Time) {
	if s.token.text != "" && pipeline.IsPermanent(err) {
		err = errors.New(err.Error())
	}
	s.err, s.paused = err, true
	if s.token.lives(now) {
		s.log.Warn("token not renewed; retrying while the current one is valid",
			zap.String("from", s.origin.name), zap.Error(err), zap.Stringer("token", s.token))
	} else {
		s.log.Warn("no valid token; retrying", zap.Error(s.whyNone(now)))
	}
	s.timer = time.AfterFunc(s.pause/2+rand.N(s.pause), s.onTimer)
	s.pause = min(2*s.pause, longestPause)
}
