package datasets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"strings"
	"time"
)

const (
	// partSuffix ends the names of incomplete files.
	partSuffix = ".part"
	// noteSuffix ends the name of the note beside such a file: the URL, and an identification of this
	// version.
	noteSuffix = ".note"
	// attempts is how often in a row a download may fail without gaining a byte.
	attempts = 4
	// defaultPause is the time before the second attempt; it doubles with each.
	defaultPause = time.Second
	// defaultSilence is how long a server may send nothing.
	defaultSilence = time.Minute
)

// statusError is a response that is not a file.
type statusError struct {
	url    string
	status string
	code   int
}

func (e *statusError) Error() string { return e.url + ": " + e.status }

// passing reports whether another attempt may succeed.
func (e *statusError) passing() bool {
	return e.code >= 500 || e.code == http.StatusTooManyRequests || e.code == http.StatusRequestTimeout
}

// errWrite marks a local failure: another attempt will not help.
var errWrite = errors.New("cannot write")

// download downloads the file at url to part, continuing an earlier download of the same version.
func (f *Fetcher) download(ctx context.Context, url, part string) error {
	pause := cmp.Or(f.pause, defaultPause)
	for failed := 0; ; {
		before := size(part)
		err := f.attempt(ctx, url, part)
		var status *statusError
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.As(err, &status) && !status.passing():
			return err
		case errors.Is(err, errWrite):
			return err
		}
		if failed++; size(part) > before {
			failed = 1
		}
		if failed == attempts {
			return gaveUp(err, part)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause << (failed - 1)):
		}
	}
}

// gaveUp is the last attempt's error, with what is kept of the download.
func gaveUp(err error, part string) error {
	err = fmt.Errorf("%w: gave up after %d attempts", err, attempts)
	if have := size(part); have > 0 {
		return fmt.Errorf("%w; the %d bytes so far are kept in %s: run it again to go on", err, have, part)
	}
	return err
}

// attempt makes one request and appends the response to part.
func (f *Fetcher) attempt(ctx context.Context, url, part string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return fmt.Errorf("%w: %w", errWrite, err)
	}
	request.Header.Set("Accept-Encoding", "identity") // otherwise the transport would decompress gzip and the length would be unknown
	have := size(part)
	if version := readNote(part, url); have > 0 && version != "" {
		request.Header.Set("Range", fmt.Sprintf("bytes=%d-", have))
		request.Header.Set("If-Range", version)
	} else {
		have = 0
	}
	silence := cmp.Or(f.silence, defaultSilence)
	watchdog := time.AfterFunc(silence, func() { cancel(fmt.Errorf("the server was silent for %v", silence)) })
	defer watchdog.Stop()
	response, err := f.client().Do(request)
	if err != nil {
		return silent(ctx, err)
	}
	defer response.Body.Close()
	have, total, err := begin(response, url, part, have)
	if err != nil || total == have {
		return err
	}
	into := &partFile{fetcher: f, what: "fetching " + path.Base(url), have: have, total: total, alive: func() error {
		watchdog.Reset(silence)
		return ctx.Err()
	}}
	return silent(ctx, into.copy(part, response.Body))
}

// begin checks a response: at which byte of the file it begins, and how many bytes the file has, -1 =
// unknown.
func begin(response *http.Response, url, part string, have int64) (first, total int64, err error) {
	switch response.StatusCode {
	case http.StatusOK:
		if err := writeNote(part, url, version(response.Header)); err != nil {
			return 0, 0, err
		}
		if response.ContentLength >= 0 {
			return 0, response.ContentLength, truncate(part)
		}
		return 0, -1, truncate(part)
	case http.StatusPartialContent:
		var last int64
		if _, err := fmt.Sscanf(response.Header.Get("Content-Range"), "bytes %d-%d/%d", &first, &last, &total); err != nil || first != have {
			return 0, 0, errors.Join(fmt.Errorf("%s: the answer has bytes %q, those from %d on were asked for", url, response.Header.Get("Content-Range"), have), discard(part))
		}
		return have, total, nil
	case http.StatusRequestedRangeNotSatisfiable:
		if _, err := fmt.Sscanf(response.Header.Get("Content-Range"), "bytes */%d", &total); err == nil && total == have {
			return have, total, nil // it was complete
		}
		return 0, 0, errors.Join(fmt.Errorf("%s: %s", url, response.Status), discard(part))
	default:
		return 0, 0, &statusError{url, response.Status, response.StatusCode}
	}
}

// version identifies this version of a file, for If-Range; "" if the response has nothing reliable.
func version(h http.Header) string {
	if tag := h.Get("ETag"); tag != "" && !strings.HasPrefix(tag, "W/") {
		return tag
	}
	return h.Get("Last-Modified")
}

// silent returns the reason why a request was cancelled.
func silent(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return fmt.Errorf("%w: %w", cause, err)
	}
	return err
}

// client is the given one, or one suited to large files from far away.
func (f *Fetcher) client() *http.Client {
	if f.Client == nil {
		f.Client = &http.Client{Transport: http.DefaultTransport, CheckRedirect: stayPrivate}
	}
	return f.Client
}

// stayPrivate refuses redirects from https to http.
func stayPrivate(request *http.Request, via []*http.Request) error {
	if len(via) >= 10 {
		return errors.New("too many redirects")
	}
	if via[0].URL.Scheme == "https" && request.URL.Scheme != "https" {
		return fmt.Errorf("redirected from https to %s", request.URL)
	}
	return nil
}
