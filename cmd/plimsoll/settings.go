package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// settingFlags are the flags whose values a plan states as its settings: those of plan and consolidate, but for the names of
// manifests and the time limit.
func settingFlags() map[string]bool {
	alone := &cobra.Command{}
	new(question).register(alone)
	names := map[string]bool{}
	alone.Flags().VisitAll(func(f *pflag.Flag) {
		names[f.Name] = f.Name != "filename" && f.Name != "recursive" && f.Name != "timeout"
	})
	return names
}

// valuesOf are the values that a flag was given, in their order.
func valuesOf(f *pflag.Flag) []string {
	switch v := f.Value.(type) {
	case *parsed:
		return v.given
	case pflag.SliceValue:
		return v.GetSlice()
	}
	return []string{f.Value.String()}
}

// settingsOf are the settings of a plan that a command makes with these flags: the flags that were given.
func settingsOf(flags *pflag.FlagSet) map[string][]string {
	stated, out := settingFlags(), map[string][]string{}
	flags.Visit(func(f *pflag.Flag) {
		if stated[f.Name] {
			out[f.Name] = valuesOf(f)
		}
	})
	return out
}

// adopt gives flags the values that they had for a plan, but for flags that were given. It returns those of them whose values differ
// from the plan's, in a sentence; "" for none. A plan without settings, e.g. one of the library, changes no flag.
func adopt(flags *pflag.FlagSet, plan string, settings map[string][]string) (differ string, err error) {
	if settings == nil {
		return "", nil
	}
	stated, given := settingFlags(), map[string]bool{}
	var other []string
	flags.Visit(func(f *pflag.Flag) {
		given[f.Name] = true
		was, set := settings[f.Name]
		if !set {
			was = []string{f.DefValue}
		}
		if own := valuesOf(f); stated[f.Name] && !slices.Equal(own, was) {
			other = append(other, fmt.Sprintf("--%s %s (plan: %s)", f.Name, strings.Join(own, " "), cmp.Or(strings.Join(was, " "), "none")))
		}
	})
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if !stated[name] {
			return "", fmt.Errorf("plan %s: settings.%s: is not known", plan, name)
		}
		for _, value := range settings[name] {
			if given[name] {
				continue
			}
			if err := flags.Set(name, value); err != nil {
				return "", fmt.Errorf("plan %s: settings.%s: %w", plan, name, err)
			}
		}
	}
	if len(other) == 0 {
		return "", nil
	}
	return "other settings than the plan's: " + strings.Join(other, ", "), nil
}

// pricedBy names the catalog and the files of prices and commitments that a plan states and that no flag replaces, as flags; "" for none.
func pricedBy(flags *pflag.FlagSet, settings map[string][]string) string {
	var named []string
	for _, name := range []string{"catalog", "prices", "billing"} {
		if !flags.Changed(name) {
			for _, value := range settings[name] {
				named = append(named, "--"+name+" "+value)
			}
		}
	}
	return strings.Join(named, " ")
}
