package cli

import (
	"maps"
	"strings"

	"github.com/spf13/cobra"

	"github.com/eerf-stream/eerf/config"
)

// ConfigFlags are the flags that locate the configuration.
type ConfigFlags struct {
	Path string
	Set  []string
}

// Add defines the flags on a command.
func (f *ConfigFlags) Add(c *cobra.Command) {
	c.Flags().StringVarP(&f.Path, "config", "c", "", "configuration file (YAML); keys that it leaves out have defaults")
	c.Flags().StringArrayVar(&f.Set, "set", nil, "override one key, such as exploration.features=200; may be repeated")
}

// Load reads file, environment and --set, each overriding the one before. defaults are the
// command's own and come before all of these; flags come from its other flags and override all of
// these. Both may be nil.
func (f *ConfigFlags) Load(defaults, flags map[string]any) (*config.Config, error) {
	overrides := map[string]any{}
	for _, pair := range f.Set {
		key, value, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, Usagef("--set %s: expected key=value", pair)
		}
		overrides[strings.TrimSpace(key)] = value
	}
	maps.Copy(overrides, flags)
	return config.Load(defaults, f.Path, overrides)
}
