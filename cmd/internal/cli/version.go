package cli

import (
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/eerf-stream/eerf/scoring"
)

// Set by the linker (scripts/build.sh). Without it, the build reports what Go recorded of the
// module and its commit.
var stampedVersion, stampedCommit, stampedDate string

// Build describes the build of a program and its arithmetic.
type Build struct {
	Program    string `json:"program"`
	Version    string `json:"version"`
	Revision   string `json:"revision,omitempty"` // of the source; absent if unknown
	Time       string `json:"time,omitempty"`     // of the revision
	Modified   bool   `json:"modified,omitempty"` // the source had uncommitted changes
	Go         string `json:"go"`
	Platform   string `json:"platform"`
	Arithmetic string `json:"kernel"` // numeric kernel, see docs/operations.md
}

// BuildOf describes the build of the named program.
func BuildOf(program string) Build {
	b := Build{
		Program: program, Version: version(), Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Arithmetic: scoring.Arithmetic(),
	}
	if stampedVersion != "" {
		b.Revision, b.Time = stampedCommit, stampedDate
		return b
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision":
			b.Revision = setting.Value
		case "vcs.time":
			b.Time = setting.Value
		case "vcs.modified":
			b.Modified = setting.Value == "true"
		}
	}
	return b
}

// String returns the text of --version after the name of the program.
func (b *Build) String() string {
	text := b.Version
	if b.Revision != "" {
		text += " (commit " + b.Revision + ", " + b.Time
		if b.Modified {
			text += ", with uncommitted changes"
		}
		text += ")"
	}
	return text
}

// version returns the stamped version, else the module's. A checkout without tags has none; it
// precedes the release.
func version() string {
	if stampedVersion != "" {
		return stampedVersion
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || !strings.HasPrefix(info.Main.Version, "v") || strings.HasPrefix(info.Main.Version, "v0.0.0-") {
		return "v" + release + "-dev"
	}
	return info.Main.Version
}
