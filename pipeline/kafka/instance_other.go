//go:build !linux

package kafka

import "errors"

// claimName fails: these systems have no reservation that ends with the process.
func claimName(string) (release func(), err error) { return nil, errors.ErrUnsupported }
