//go:build !unix

package embedded

// lock does nothing: these systems have no portable lock that is released when a process is killed.
func lock(string) (unlock func() error, err error) {
	return func() error { return nil }, nil
}
