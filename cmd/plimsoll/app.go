package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"

	"github.com/samber/lo"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"sigs.k8s.io/yaml"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// The exit codes.
const (
	exitOK            = 0
	exitBadInput      = 1
	exitUsage         = 2
	exitUnschedulable = 3
	exitAbove         = 4
	exitFound         = 5
	exitInterrupted   = 130 // as of shells: 128 and the number of SIGINT
)

// app is one run of the command.
type app struct {
	view

	args   []string       // of the subcommand
	flags  *pflag.FlagSet // of the subcommand, once they are read
	stdin  io.Reader
	kept   bytes.Buffer // the content of stdin, where it is read several times
	source io.Reader    // the rest of it, then
	stdout bytes.Buffer // printed at the end, unless there is an error
	stderr io.Writer
	code   int
	// started says that the arguments were understood, so that what fails from then
	// on is not the usage.
	started bool
	// searching says that a search has begun, so that there is a plan to print when it is
	// interrupted.
	searching atomic.Bool
	// locate says where in the input the faults of an error stand, once it was read.
	locate func(error) error
	// skipped are the files and objects that were left out of the input. They are listed at the end.
	skipped manifest.Faults
}

// usageError is an error in how the command was called.
type usageError struct{ error }

// usagef returns a usageError.
func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// say prints a line on stderr. There is nobody left to tell if that fails.
func (a *app) say(format string, args ...any) { _, _ = fmt.Fprintf(a.stderr, format+"\n", args...) }

// warn writes warnings and notes to stderr; of names their origin, e.g. "A: ", and is "" for one input.
func (a *app) warn(of string, warnings []scheduling.Warning) {
	for _, w := range warnings {
		a.say("%s: %s%s: %s", lo.Ternary(w.Note, "note", "warning"), of, w.Object, w.Message)
	}
}

// does wraps the work of a command after its arguments were parsed.
func (a *app) does(run func(ctx context.Context) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, _ []string) error {
		a.started, a.flags = true, cmd.Flags()
		return run(cmd.Context())
	}
}

// rereadStdin has stdin begin anew, for it to be read several times. Nothing is read before somebody
// asks for it: it may be a terminal.
func (a *app) rereadStdin() {
	if a.source == nil {
		a.source = io.TeeReader(a.stdin, &a.kept)
	}
	a.stdin = io.MultiReader(bytes.NewReader(a.kept.Bytes()), a.source)
}

// encode writes something as JSON or YAML.
func (a *app) encode(format, what string, value any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(value); err != nil {
		return fmt.Errorf("writing the %s: %w", what, err)
	}
	if format == "json" {
		_, err := b.WriteTo(&a.stdout)
		return err
	}
	text, err := yaml.JSONToYAML(b.Bytes())
	if err != nil {
		return fmt.Errorf("writing the %s: %w", what, err)
	}
	_, err = a.stdout.Write(text)
	return err
}

// mostViolations is how many rules that a plan breaks are told: most follow from the first.
const mostViolations = 10

// messages returns the lines to print for an error, one fault in a line.
func messages(err error) []string {
	var fields *scheduling.FieldErrors
	if errors.As(err, &fields) {
		out := make([]string, len(fields.Errors))
		for i, f := range fields.Errors {
			out[i] = f.Error()
		}
		return out
	}
	var report *verify.Report
	if errors.As(err, &report) {
		var out []string
		for _, v := range report.Violations[:min(len(report.Violations), mostViolations)] {
			out = append(out, fmt.Sprintf("the plan breaks a rule: %v", v))
		}
		if more := len(report.Violations) - mostViolations; more > 0 {
			out = append(out, fmt.Sprintf("the plan breaks a rule %d more times", more))
		}
		return out
	}
	return strings.Split(strings.TrimSpace(err.Error()), "\n")
}

// version names the commit of this binary and the Go version that built it.
func version() string {
	version, revision := "(devel)", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		if info.Main.Version != "" {
			version = info.Main.Version
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				revision = " " + s.Value
			}
		}
	}
	return fmt.Sprintf("%s%s %s %s/%s", version, revision, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
