package serveload

import (
	"context"
	_ "embed"
	"os"
	"path/filepath"
)

// peerSource is a server with scikit-learn and FastAPI.
//
//go:embed peer.py
var peerSource []byte

// startPeer starts the peer in a folder.
func (s *speed) startPeer(ctx context.Context, dir string) (*program, error) {
	source := filepath.Join(dir, "peer.py")
	if err := os.WriteFile(source, peerSource, 0o644); err != nil {
		return nil, err
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	peer, err := start(ctx, "/live", address, s.python, source, address)
	if err == nil {
		peer.signalled = true
	}
	return peer, err
}
