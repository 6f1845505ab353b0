package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The groups of flags, by their titles.
const (
	groupInput  = "Input"
	groupMarket = "Market"
	groupBuy    = "What to buy"
	groupRemove = "What to remove"
	groupSearch = "Search"
	groupOutput = "Output"
)

// grouped puts those flags of a command into a group that are in none yet.
func grouped(cmd *cobra.Command, title string) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if groupOf(f) == "" {
			f.Annotations = map[string][]string{"group": {title}}
		}
	})
}

// groupOf is the group that a flag is in; "" is none.
func groupOf(f *pflag.Flag) string { return strings.Join(f.Annotations["group"], "") }

// usage prints how a command is called, with its flags by group.
func (a *app) usage(cmd *cobra.Command) error {
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
	for _, title := range []string{groupInput, groupMarket, groupBuy, groupRemove, groupSearch, groupOutput, ""} {
		flags := pflag.NewFlagSet(title, pflag.ContinueOnError)
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if groupOf(f) == title {
				flags.AddFlag(f)
			}
		})
		if flags.HasAvailableFlags() {
			fmt.Fprintf(&b, "\n%s:\n%s", cmp.Or(title, "Flags"), flags.FlagUsagesWrapped(max(0, a.width-5))) // it leaves lines up to 5 characters longer
		}
	}
	_, err := fmt.Fprint(cmd.OutOrStderr(), b.String())
	return err
}
