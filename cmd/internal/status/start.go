package status

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/stages/state"
)

const (
	// startBytes bounds the body of a request, reasonBytes the reason in it.
	startBytes  = 4 << 10
	reasonBytes = 500
	// startTimeout is how long the broker may take to write a request.
	startTimeout = 10 * time.Second
)

// failure is the body of an error response.
type failure struct {
	Error string `json:"error"`
}

// canStart says whether an exploration can be requested now.
func (p *page) canStart(now state.Snapshot) Action {
	switch {
	case p.service.Config.Stages.Featurize.SetsFrom != "":
		return Action{Why: "explorations are those of pipeline " + p.service.Config.Stages.SetsOf() + ", whose feature sets are used here (featurize.sets_from)"}
	case p.service.Config.Status.Token == "":
		return Action{Why: "no token is configured (status.token): explorations are started by the command `featurizer explorations start`"}
	case now.Running() != nil:
		return Action{Why: "exploration " + now.Running().Exploration + " is running; another one would take its place"}
	case len(now.Requests) > 0:
		return Action{Why: "a request waits for the planner already"}
	}
	return Action{Possible: true}
}

// serveStart requests an exploration from the planner. The token is in a header, which a foreign page cannot make a
// browser send.
func (p *page) serveStart(w http.ResponseWriter, r *http.Request) {
	logger := p.service.Process.Logger
	if p.service.Config.Status.Token == "" {
		answer(w, http.StatusForbidden, failure{p.canStart(state.Snapshot{}).Why})
		return
	}
	if !p.authorized(r) {
		logger.Warn("status page: an exploration was asked for with a wrong token", zap.String("from", r.RemoteAddr))
		w.Header().Set("WWW-Authenticate", `Bearer realm="eerf"`)
		answer(w, http.StatusUnauthorized, failure{"the token is missing or wrong: it is the value of status.token"})
		return
	}
	request, err := readStart(w, r)
	if err != nil {
		answer(w, http.StatusBadRequest, failure{err.Error()})
		return
	}
	if action := p.canStart(p.service.Process.State.Snapshot()); !action.Possible {
		answer(w, http.StatusConflict, failure{action.Why})
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), startTimeout)
	defer cancel()
	if err := p.service.Process.State.SendRequest(ctx, request); err != nil {
		answer(w, http.StatusServiceUnavailable, failure{"the broker has not confirmed the request, which may have been written all the same: " + err.Error()})
		return
	}
	logger.Info("status page: exploration asked for", zap.String("request", request.ID), zap.String("reason", request.Reason), zap.String("from", r.RemoteAddr))
	answer(w, http.StatusAccepted, request)
}

// authorized compares the token in a time that depends neither on how much of it is right nor on its length.
func (p *page) authorized(r *http.Request) bool {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	want, have := sha256.Sum256([]byte(p.service.Config.Status.Token)), sha256.Sum256([]byte(token))
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(want[:], have[:]) == 1
}

// readStart makes the request that a body describes.
func readStart(w http.ResponseWriter, r *http.Request) (wire.Request, error) {
	var asked struct {
		Reason string `json:"reason"`
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return wire.Request{}, errors.New("the body has to be JSON, as {\"reason\": \"…\"} (Content-Type: application/json)")
	}
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, startBytes))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&asked); err != nil {
		return wire.Request{}, errors.New("the body is not as {\"reason\": \"…\"}: " + err.Error())
	}
	if len(asked.Reason) > reasonBytes {
		return wire.Request{}, errors.New("the reason is too long: at most 500 bytes")
	}
	if asked.Reason = strings.TrimSpace(asked.Reason); asked.Reason == "" {
		asked.Reason = "asked for on the status page"
	}
	return wire.Request{Action: wire.ActionStart, ID: rand.Text(), Reason: asked.Reason, Time: time.Now()}, nil
}
