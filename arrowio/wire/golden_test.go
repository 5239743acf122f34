package wire

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the files in testdata")

// goldenMessages are one message of each kind, by file name.
func goldenMessages(t *testing.T) map[string][]byte {
	t.Helper()
	return map[string][]byte{
		"spec.json":           must(EncodeSpec(exampleSpec())),
		"samples.arrow":       samplesValue(exampleSamples(true)),
		"outputs.arrow":       samplesValue(exampleSamples(false)),
		"refusal.json":        must(EncodeRefusal(exampleRefusal())),
		"progress.json":       must(EncodeProgress(exampleProgress())),
		"block.json":          must(EncodeBlock(exampleBlock())),
		"request.json":        must(EncodeRequest(exampleRequest())),
		"checkpoint.arrow":    must(EncodeCheckpoint(exampleCheckpoint())),
		"feature_set.arrow":   must(EncodeFeatureSet(exampleFeatureSet())),
		"linear_set.arrow":    must(EncodeFeatureSet(linearFeatureSet())),
		"model.arrow":         must(EncodeModel(exampleModel())),
		"current.json":        must(EncodeCurrent(exampleCurrent())),
		"challenger.arrow":    must(EncodeModel(exampleChallenger())),
		"rollback.json":       must(EncodeCurrent(exampleRollback())),
		"predictions.arrow":   examplePredictions(t, exampleModel()),
		"features.arrow":      exampleFeatures(t),
		"rejected_rows.arrow": exampleRejectedRows(t),

		"adaptive_spec.json":        must(EncodeSpec(adaptiveSpec())),
		"held_out_checkpoint.arrow": must(EncodeCheckpoint(heldOutCheckpoint())),
		"learned_set.arrow":         must(EncodeFeatureSet(learnedFeatureSet())),
		"mixed_set.arrow":           must(EncodeFeatureSet(mixedFeatureSet())),
		"learned_progress.json":     must(EncodeProgress(learnedProgress())),
		"unseen_model.arrow":        must(EncodeModel(unseenModel())),
		"seen_model.arrow":          must(EncodeModel(seenModel())),
	}
}

// Bytes on a topic outlive the build that wrote them: a change here needs a new FormatVersion, or a
// reason why old messages can still be read.
func TestMessagesKeepTheirBytes(t *testing.T) {
	for name, value := range goldenMessages(t) {
		checkGolden(t, name, value)
	}
}

func TestIDsAndHashesAreStable(t *testing.T) {
	var text bytes.Buffer
	for _, line := range []struct{ name, id string }{
		{"feature set", exampleFeatureSet().ID()},
		{"linear feature set", linearFeatureSet().ID()},
		{"learned feature set", learnedFeatureSet().ID()},
		{"mixed feature set", mixedFeatureSet().ID()},
		{"model", ModelID(exampleModel())},
		{"spec hash", exampleSpec().Hash()},
	} {
		text.WriteString(line.name + ": " + line.id + "\n")
	}
	checkGolden(t, "ids.txt", text.Bytes())
}

// checkGolden compares value with a file in testdata, or writes it there.
func checkGolden(t *testing.T, name string, value []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, value, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; run go test -update", err)
	}
	if !bytes.Equal(value, want) {
		t.Errorf("%s: %d bytes differ from the %d in testdata", name, len(value), len(want))
	}
}
