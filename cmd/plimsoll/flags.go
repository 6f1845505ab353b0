package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/samber/lo"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/internal/clouds"
	"github.com/plimsoll-go/plimsoll/internal/spelling"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// The groups of flags, by their titles.
const (
	groupInput  = "Input"
	groupMarket = "Market"
	groupBuy    = "Launching nodes"
	groupRemove = "Removing nodes"
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

// flagError is a usage error about a flag. It names the values that the flag takes, or, for an unknown flag, the flag
// with the most similar name.
func flagError(cmd *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		cause := invalid.Unwrap()
		var number *strconv.NumError
		if errors.As(cause, &number) {
			cause = errors.New("want a whole number")
		}
		return fmt.Errorf("--%s %q: %w", invalid.GetFlag().Name, invalid.GetValue(), cause)
	}
	typed, unknown := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !unknown {
		return err
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	near := spelling.Closest(names, 1, func(name string) (int, bool) {
		if len(typed) > 2 && strings.HasPrefix(name, typed) {
			return 0, true
		}
		d := spelling.Distance(typed, name)
		return d, d <= 1+len(typed)/4
	})
	if len(near) == 0 {
		return err
	}
	return fmt.Errorf("%w (did you mean --%s?)", err, near[0])
}

// parsed is a flag whose text is read by a function as soon as it is given.
type parsed struct {
	text, kind string
	read       func(text string) error
	choices    []string // that shells complete
	given      []string // the texts that were given, in their order
}

// String implements [pflag.Value].
func (p *parsed) String() string { return p.text }

// Set implements [pflag.Value].
func (p *parsed) Set(text string) error {
	p.text, p.given = text, append(p.given, text)
	return p.read(text)
}

// Type implements [pflag.Value].
func (p *parsed) Type() string { return p.kind }

// textFlag adds a flag that a function reads.
func textFlag(flags *pflag.FlagSet, name, usage string, read func(text string) error) {
	flags.Var(&parsed{kind: "string", read: read}, name, usage)
}

// choiceFlag adds a flag for one of some values, by default the one that into has.
func choiceFlag[T ~string](flags *pflag.FlagSet, into *T, name, usage string, choices ...T) {
	flags.Var(&parsed{text: string(*into), kind: "string", choices: texts(choices), read: func(text string) (err error) {
		*into, err = oneOf(text, choices...)
		return err
	}}, name, usage)
}

// oneOf returns the choice that a text names, or an error that lists the choices.
func oneOf[T ~string](text string, choices ...T) (T, error) {
	for _, c := range choices {
		if strings.EqualFold(text, string(c)) {
			return c, nil
		}
	}
	return "", fmt.Errorf("want one of %s", list(choices))
}

// list joins choices for people.
func list[T ~string](choices []T) string {
	names := texts(choices)
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return figures.Join(names[:len(names)-1]) + " or " + names[len(names)-1]
}

// texts are choices as texts.
func texts[T ~string](choices []T) []string {
	return lo.Map(choices, func(c T, _ int) string { return string(c) })
}

// complete has shells complete the values of flags where they are known. Commands take no files
// as arguments, but those that are named.
func complete(whole *cobra.Command) {
	for _, cmd := range whole.Commands() {
		switch cmd.Name() {
		case "diff", "prices":
		case "catalog":
			cmd.ValidArgsFunction = cobra.FixedCompletions(clouds.Names(), cobra.ShellCompDirectiveDefault)
		default:
			cmd.ValidArgsFunction = cobra.NoFileCompletions
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			values := []string(nil)
			if p, ok := f.Value.(*parsed); ok {
				values = p.choices
			}
			if f.Name == "catalog" || f.Name == "compare" {
				values = clouds.Names()
			}
			if len(values) > 0 {
				_ = cmd.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveDefault)) // each flag once
			}
		})
	}
}

// countFlag adds a flag for a number from 0, which is the default.
func countFlag(flags *pflag.FlagSet, into *int, name, usage string) {
	flags.Var(&parsed{text: "0", kind: "int", read: func(text string) (err error) {
		*into, err = strconv.Atoi(text)
		return cmp.Or(err, notNegative(*into))
	}}, name, usage)
}

// numberFlag adds a flag for a finite number from 0, which is the default.
func numberFlag(flags *pflag.FlagSet, into *float64, name, usage string) {
	flags.Var(&parsed{text: "0", kind: "float", read: func(text string) (err error) {
		if *into, err = strconv.ParseFloat(text, 64); err != nil || !(*into >= 0) || math.IsInf(*into, 0) {
			return errors.New("must be a number from 0")
		}
		return nil
	}}, name, usage)
}

// timeFlag adds a flag for a time from 0, which is the default.
func timeFlag(flags *pflag.FlagSet, into *time.Duration, name, usage string) {
	flags.Var(&parsed{text: "0", kind: "duration", read: func(text string) (err error) {
		if *into, err = time.ParseDuration(text); err != nil {
			return errors.New("want a time such as 30s or 12h")
		}
		return notNegative(*into)
	}}, name, usage)
}

func notNegative[N int | time.Duration](n N) error {
	if n < 0 {
		return errors.New("must not be negative")
	}
	return nil
}

// moneyFlag adds a flag for an amount of money, by default none.
func moneyFlag(flags *pflag.FlagSet, into *offerings.Amount, name, usage string) {
	textFlag(flags, name, usage, func(text string) (err error) {
		*into, err = offerings.ParseAmount(text)
		return err
	})
}

// sizeFlag adds a flag for an amount of CPU and of memory: cpu=2,memory=4Gi.
func sizeFlag(flags *pflag.FlagSet, into *corev1.ResourceList, name, usage string) {
	textFlag(flags, name, usage, func(text string) (err error) {
		*into, err = figures.ParseSize(text)
		return err
	})
}

// outputFlag adds the flag -o for the format of the output, and returns a pointer to its value; the first format is the
// default. "wide" is a table of any width that lists all items, with the details of --details.
func outputFlag(a *app, cmd *cobra.Command, usage string, formats ...string) *string {
	format := formats[0]
	cmd.Flags().VarP(&parsed{text: format, kind: "string", choices: formats, read: func(text string) (err error) {
		if format, err = oneOf(text, formats...); format == "wide" {
			a.width, a.wide, a.details, format = 0, true, true, formats[0]
		}
		return err
	}}, "output", "o", usage)
	grouped(cmd, groupOutput)
	return &format
}

// listFlag adds a flag that may be repeated, and holds several values between commas.
func listFlag(cmd *cobra.Command, name, usage string, read func(text string) error) {
	cmd.Flags().Var(&parsed{kind: "strings", read: func(text string) error {
		for part := range strings.SplitSeq(text, ",") {
			if err := read(strings.TrimSpace(part)); err != nil {
				return err
			}
		}
		return nil
	}}, name, usage)
}

// noArguments refuses arguments, with a hint for users who pass files without -f.
func noArguments(hint string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > 0 {
			return fmt.Errorf("unexpected argument %q%s", args[0], hint)
		}
		return nil
	}
}
