package serve

import (
	"io"
	"net/http"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/tensors"
	"github.com/eerf-stream/eerf/stages/featurize"
	"github.com/eerf-stream/eerf/stages/meter"
)

// platform is the protocol's term for the kind of model.
const platform = "eerf"

// serverMetadata is the answer to /v2.
type serverMetadata struct {
	Name       string   `json:"name"`
	Version    string   `json:"version"`
	Extensions []string `json:"extensions"`
}

// modelMetadata is the answer to /v2/models/{name}.
type modelMetadata struct {
	Name       string           `json:"name"`
	Versions   []string         `json:"versions"`
	Platform   string           `json:"platform"`
	Inputs     []tensorMetadata `json:"inputs"`
	Outputs    []tensorMetadata `json:"outputs"`
	Parameters parameters       `json:"parameters"`
}

type parameters struct {
	FeatureSet string `json:"feature_set"`
	Model      string `json:"model,omitempty"`
	// Waiting is the reason why the served pair is not the current one.
	Waiting string `json:"waiting,omitempty"`
}

type tensorMetadata struct {
	Name     string  `json:"name"`
	Datatype string  `json:"datatype"`
	Shape    []int64 `json:"shape"`
}

// paths is the answer to /.
const paths = `featurizer serve answers:

POST /v1/predict               rows of JSON or Arrow: predictions of the current model
POST /v1/features              the same rows: their features
GET  /v2                       Open Inference Protocol: the server
GET  /v2/models/NAME           its model; append /ready to ask whether it is served
POST /v2/models/NAME/infer     predictions for tensors; also with /versions/VERSION
GET  /v2/health/live, /ready   health
`

// describe adds the handlers for metadata and health.
func (s *Server) describe(mux *http.ServeMux) {
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, paths) })
	mux.HandleFunc("GET /v2/health/live", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	mux.HandleFunc("GET /v2/health/ready", func(w http.ResponseWriter, _ *http.Request) {
		ok, detail := s.Ready()
		send(w, readyCode(ok), map[string]any{"ready": ok, "detail": detail})
	})
	mux.HandleFunc("GET /v2", s.asked(func(w http.ResponseWriter, _ *http.Request) {
		send(w, http.StatusOK, serverMetadata{platform, s.Version, []string{"binary_tensor_data"}})
	}))
	for _, model := range []string{"/v2/models/{name}", "/v2/models/{name}/versions/{version}"} {
		mux.HandleFunc("GET "+model, s.asked(s.metadata))
		mux.HandleFunc("GET "+model+"/ready", s.asked(func(w http.ResponseWriter, r *http.Request) {
			if _, f := s.model(r); f != nil {
				sendFault(w, f)
				return
			}
			ok, detail := s.Ready()
			send(w, readyCode(ok), map[string]any{"name": s.Model, "ready": ok, "detail": detail})
		}))
	}
}

func readyCode(ok bool) int {
	if ok {
		return http.StatusOK
	}
	return http.StatusServiceUnavailable
}

// asked requires the token.
func (s *Server) asked(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !s.authorized(r) {
			w.Header().Set("WWW-Authenticate", `Bearer realm="eerf"`)
			send(w, http.StatusUnauthorized, map[string]string{
				"error":  "the token is missing or wrong",
				"reason": "unauthorized",
			})
			return
		}
		next(w, r)
	}
}

func sendFault(w http.ResponseWriter, f *fault) {
	send(w, f.code, map[string]string{"error": f.Error(), "reason": f.reason})
}

// versionOf returns the version of a pair in the protocol: the id of its model or, without one, of
// its feature set.
func versionOf(pair *featurize.Pair) string {
	if pair.Model != nil {
		return pair.ModelID()
	}
	return pair.SetID()
}

// model returns the pair that a path names.
func (s *Server) model(r *http.Request) (*featurize.Pair, *fault) {
	pair := s.Limiter.Pairs().Served()
	if pair == nil {
		_, detail := s.Ready()
		return nil, faultf(http.StatusServiceUnavailable, meter.Unavailable, "nothing_served", "%s", detail)
	}
	if err := s.checkModel(pair, r.PathValue("name"), r.PathValue("version")); err != nil {
		return nil, faultOf(err)
	}
	return pair, nil
}

// checkModel refuses a name or a version that is not the pair's.
func (s *Server) checkModel(pair *featurize.Pair, name, version string) error {
	switch {
	case name != s.Model:
		return faultf(http.StatusNotFound, meter.Invalid, "no_such_model",
			"model %.100q is not served; the served model is %q", name, s.Model)
	case version != "" && version != versionOf(pair):
		return faultf(http.StatusNotFound, meter.Invalid, "no_such_version",
			"version %.100q of model %s is not served; the served version is %s", version, name, versionOf(pair))
	}
	return nil
}

// metadata describes the served pair.
func (s *Server) metadata(w http.ResponseWriter, r *http.Request) {
	pair, f := s.model(r)
	if f != nil {
		sendFault(w, f)
		return
	}
	m := modelMetadata{
		Name: s.Model, Versions: []string{versionOf(pair)}, Platform: platform,
		Parameters: parameters{pair.SetID(), pair.ModelID(), s.Limiter.Pairs().Waiting()},
	}
	for i := range pair.Encoder().Columns {
		m.Inputs = append(m.Inputs, inputOf(&pair.Encoder().Columns[i]))
	}
	for _, o := range outputsOf(pair) {
		t := tensorMetadata{o.Name, o.Datatype, []int64{-1}}
		if o.Width > 1 {
			t.Shape = append(t.Shape, int64(o.Width))
		}
		m.Outputs = append(m.Outputs, t)
	}
	send(w, http.StatusOK, m)
}

// inputOf describes the input of a feature column. Numbers may have any numeric type; times may be
// text.
func inputOf(c *encoder.Column) tensorMetadata {
	t := tensorMetadata{c.Name, tensors.DatatypeFloat64, []int64{-1}}
	switch c.Kind {
	case encoder.Bool:
		t.Datatype = "BOOL"
	case encoder.Category, encoder.Time, encoder.Clock:
		t.Datatype = tensors.DatatypeBytes
	case encoder.Vector:
		t.Shape = append(t.Shape, int64(c.Width))
	}
	return t
}
