package usage

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Write prints how a command is called, in lines of a width, with its flags in the order of their
// groups; those that are in none ("") come last.
func Write(cmd *cobra.Command, width int, groupOf func(*pflag.Flag) string, groups ...string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Usage:\n  %s\n", cmd.UseLine())
	if cmd.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", cmd.Example)
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprint(&b, "\nCommands:\n")
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				fmt.Fprintf(&b, "  %-*s %s\n", c.NamePadding(), c.Name(), c.Short)
			}
		}
	}
	for _, title := range append(groups, "") {
		flags := pflag.NewFlagSet(title, pflag.ContinueOnError)
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if groupOf(f) == title {
				flags.AddFlag(f)
			}
		})
		if flags.HasAvailableFlags() {
			fmt.Fprintf(&b, "\n%s:\n%s", cmp.Or(title, "Flags"), flags.FlagUsagesWrapped(max(0, width-5))) // it leaves lines up to 5 characters longer
		}
	}
	_, err := fmt.Fprint(cmd.OutOrStderr(), b.String())
	return err
}
