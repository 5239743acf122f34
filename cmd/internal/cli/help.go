package cli

import (
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"
)

// Groups of flags in the help of commands with many. Flags without a group come first.
const (
	groupFile        = "Form of the file"
	groupExploration = "Exploration"
	groupTraining    = "Training"
	groupGeneral     = "Configuration and output"
)

var flagGroups = []string{groupFile, groupExploration, groupTraining, groupGeneral}

const (
	// groupedFrom is the number of flags from which they are listed in groups.
	groupedFrom = 15
	// narrowestHelp and widestHelp bound the width of help in columns, whatever the terminal.
	narrowestHelp, widestHelp = 60, 120
)

// Annotations of flags and commands: where help lists a flag, and how wide help is.
const groupKey, commonKey, widthKey = "eerf/group", "eerf/common", "eerf/width"

// group puts flags of a command into a group.
func group(c *cobra.Command, title string, names ...string) {
	for _, name := range names {
		_ = c.Flags().SetAnnotation(name, groupKey, []string{title}) // the flag exists
	}
}

// CommonFlags makes help list these flags first, whatever their group.
func CommonFlags(c *cobra.Command, names ...string) {
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	c.Annotations[commonKey] = strings.Join(names, " ")
}

// usageTemplate is cobra's with grouped flags.
const usageTemplate = `Usage:{{if .Runnable}}
  {{.UseLine}}{{end}}{{if .HasAvailableSubCommands}}
  {{.CommandPath}} [command]{{end}}{{if .HasExample}}

Examples:
{{.Example}}{{end}}{{if .HasAvailableSubCommands}}

Available Commands:{{range .Commands}}{{if (or .IsAvailableCommand (eq .Name "help"))}}
  {{rpad .Name .NamePadding }} {{.Short}}{{end}}{{end}}{{end}}{{if .HasAvailableLocalFlags}}

{{flagUsages . | trimTrailingWhitespaces}}{{end}}{{if .HasAvailableSubCommands}}

Use "{{.CommandPath}} [command] --help" for more information about a command.{{end}}
`

func init() { cobra.AddTemplateFunc("flagUsages", flagUsages) }

// setHelp sets a program's help.
func setHelp(root *cobra.Command) {
	if root.Annotations == nil {
		root.Annotations = map[string]string{}
	}
	root.Annotations[widthKey] = strconv.Itoa(helpWidth(root)) // later its output may be replaced
	root.SetUsageTemplate(usageTemplate)
}

// flagUsages lists the flags of a command: in groups if there are many, the common ones first.
func flagUsages(c *cobra.Command) string {
	sets := groupsOf(c)
	width, _ := strconv.Atoi(c.Root().Annotations[widthKey]) // 0 does not wrap
	var text strings.Builder
	for i, title := range append([]string{"Flags"}, flagGroups...) {
		if set := sets[title]; set != nil && set.HasAvailableFlags() {
			if i > 0 {
				text.WriteString("\n")
			}
			text.WriteString(title + ":\n" + set.FlagUsagesWrapped(width))
		}
	}
	return text.String()
}

// groupsOf returns the flags of a command by the titles under which they are listed.
func groupsOf(c *cobra.Command) map[string]*pflag.FlagSet {
	flags := c.LocalFlags()
	count := 0
	flags.VisitAll(func(*pflag.Flag) { count++ })
	if count < groupedFrom {
		return map[string]*pflag.FlagSet{"Flags": flags}
	}
	sets := map[string]*pflag.FlagSet{}
	add := func(title string, flag *pflag.Flag) {
		if sets[title] == nil {
			sets[title] = pflag.NewFlagSet(title, pflag.ContinueOnError)
			sets[title].SortFlags = false
		}
		sets[title].AddFlag(flag)
	}
	for _, name := range strings.Fields(c.Annotations[commonKey]) {
		add("Flags", flags.Lookup(name))
	}
	defined(c, func(flag *pflag.Flag) {
		switch title := flag.Annotations[groupKey]; {
		case sets["Flags"] != nil && sets["Flags"].Lookup(flag.Name) != nil:
		case flag.Name == "help":
			add(groupGeneral, flag)
		case len(title) > 0:
			add(title[0], flag)
		default:
			add("Flags", flag)
		}
	})
	return sets
}

// defined calls do for the flags of a command in the order of their definition.
func defined(c *cobra.Command, do func(*pflag.Flag)) {
	flags := c.Flags()
	sorted := flags.SortFlags
	flags.SortFlags = false
	flags.VisitAll(do)
	flags.SortFlags = sorted
}

// helpWidth is the width of a program's help: that of its terminal, within bounds.
func helpWidth(root *cobra.Command) int {
	if out, ok := root.OutOrStdout().(*os.File); ok {
		if width, _, err := term.GetSize(int(out.Fd())); err == nil && width >= narrowestHelp {
			return min(width, widestHelp)
		}
	}
	return widestHelp
}
