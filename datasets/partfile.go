package datasets

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// partFile is a file that grows.
type partFile struct {
	fetcher     *Fetcher
	what        string
	have, total int64
	alive       func() error // called for every piece; an error ends the copying
}

// copy appends a body to part.
func (p *partFile) copy(part string, body io.Reader) (err error) {
	file, err := os.OpenFile(part, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("%w: %w", errWrite, err)
	}
	defer func() {
		if closed := file.Close(); err == nil && closed != nil {
			err = fmt.Errorf("%w: %w", errWrite, closed)
		}
	}()
	buffer := make([]byte, 256<<10)
	for {
		n, readErr := body.Read(buffer)
		if _, err := file.Write(buffer[:n]); err != nil {
			return fmt.Errorf("%w after %d bytes (they are kept; make room and run it again): %w", errWrite, p.have, err)
		}
		p.have += int64(n)
		if p.fetcher.Watch != nil {
			p.fetcher.Watch(p.what, p.have, p.total)
		}
		if err := p.alive(); err != nil { // the connection may still hold all of the rest
			return err
		}
		switch {
		case p.have > maxContent:
			return errors.Join(fmt.Errorf("%w: more than %d MiB", errWrite, maxContent>>20), discard(part))
		case errors.Is(readErr, io.EOF) && p.total >= 0 && p.have != p.total:
			return fmt.Errorf("%d bytes of %d: %w", p.have, p.total, io.ErrUnexpectedEOF)
		case errors.Is(readErr, io.EOF):
			return nil
		case readErr != nil:
			return fmt.Errorf("after %d bytes: %w", p.have, readErr)
		}
	}
}

func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// readNote returns the version that part is the beginning of, "" if it is not known to be from that URL.
func readNote(part, url string) string {
	content, err := os.ReadFile(part + noteSuffix)
	if err != nil {
		return ""
	}
	from, version, _ := strings.Cut(strings.TrimSuffix(string(content), "\n"), "\n")
	if from != url {
		return ""
	}
	return version
}

// writeNote writes the version before the first byte of the file is written.
func writeNote(part, url, version string) error {
	if err := os.WriteFile(part+noteSuffix, []byte(url+"\n"+version+"\n"), 0o600); err != nil {
		return fmt.Errorf("%w: %w", errWrite, err)
	}
	return nil
}

// truncate empties part.
func truncate(part string) error {
	file, err := os.Create(part)
	if err != nil {
		return fmt.Errorf("%w: %w", errWrite, err)
	}
	return file.Close()
}

// discard removes part and its note.
func discard(part string) error {
	return errors.Join(remove(part), forget(part))
}

// forget removes the note of part.
func forget(part string) error { return remove(part + noteSuffix) }

func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove: %w", err)
	}
	return nil
}
