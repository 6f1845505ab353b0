package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/skipped"
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

	args   []string // of the subcommand
	stdin  io.Reader
	kept   []byte       // of stdin, where it is read several times
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
	// skipped is what was left out of the input, to be told at the end.
	skipped manifest.Faults
}

// usageError is an error in how the command was called.
type usageError struct{ error }

// usagef returns a usageError.
func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// Run runs the command and returns its exit code. It reads nothing but stdin and the
// files that args name. When ctx is cancelled, a search ends and the best plan so far is
// printed; where none has begun, nothing is waited for.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := &app{view: view{width: widthOf(stdout)}, args: args[min(1, len(args)):], stdin: stdin, stderr: stderr}
	root := a.root()                          //nolint:contextcheck // cobra hands the context to what is run
	root.SetArgs(append([]string{}, args...)) // nil would stand for the arguments of the process
	root.SetIn(stdin)
	root.SetOut(&a.stdout)
	root.SetErr(stderr)
	finished := make(chan int, 1)
	go func() { finished <- a.run(ctx, root, stdout) }()
	select {
	case code := <-finished:
		return code
	case <-ctx.Done():
		if !a.searching.Load() {
			a.say("error: interrupted before there was a plan")
			return exitInterrupted
		}
		return <-finished
	}
}

// run runs the command and returns its exit code.
func (a *app) run(ctx context.Context, root *cobra.Command, stdout io.Writer) int {
	called, err := root.ExecuteContextC(ctx)
	if err == nil {
		if _, err = stdout.Write(a.stdout.Bytes()); err == nil {
			for _, line := range skipped.Lines(a.skipped) {
				a.say("%s", line)
			}
			if ctx.Err() != nil {
				a.say("interrupted: what is printed is the best that was found so far")
				return exitInterrupted
			}
			return a.code
		}
	}
	var usage usageError
	if !a.started || errors.As(err, &usage) {
		a.say("error: %s\nRun '%s --help' for usage.", strings.TrimSpace(err.Error()), called.CommandPath())
		return exitUsage
	}
	if a.locate != nil {
		err = a.locate(err)
	}
	lines := messages(err)
	for _, line := range lines[:min(len(lines), mostMessages)] {
		a.say("error: %s", line)
	}
	if more := len(lines) - mostMessages; more > 0 {
		a.say("error: and %s", figures.Count(more, "further fault"))
	}
	return exitBadInput
}

// mostMessages is how many faults are told, so that a fault that a large cluster repeats
// does not fill the screen.
const mostMessages = 25

// say prints a line on stderr. There is nobody left to tell if that fails.
func (a *app) say(format string, args ...any) { _, _ = fmt.Fprintf(a.stderr, format+"\n", args...) }

// messages returns what is to be said of an error, one fault in a line.
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
		out := make([]string, len(report.Violations))
		for i, v := range report.Violations {
			out[i] = fmt.Sprintf("the plan breaks a rule: %v", v)
		}
		return out
	}
	return strings.Split(strings.TrimSpace(err.Error()), "\n")
}

// root builds the command with its subcommands.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "plimsoll COMMAND",
		Short: "Decide which machines to buy for Kubernetes pods, and which to remove",
		Long: `Plimsoll decides which machines to buy for the pods of Kubernetes manifests, what
they cost, and why nothing cheaper will do; and which running ones to remove or replace.
It asks no cluster and no cloud.

Exit codes: 0 every pod has a place; 3 some pods have none, the plan is printed all
the same; 4 a price is above --fail-above; 5 lint has found something; 1 bad input; 2 wrong
usage; 130 interrupted, the best plan so far is printed if there is one.`,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.Version = version()
	root.SetVersionTemplate("plimsoll {{.Version}}\n")
	root.SetFlagErrorFunc(flagError)
	root.SetUsageFunc(a.usage)
	root.AddCommand(a.planCommand(), a.consolidateCommand(), a.reportCommand(), a.whatifCommand(), a.diffCommand(), a.lintCommand(), a.redactCommand(), a.explainCommand(), a.verifyCommand(), a.catalogCommand(), a.versionCommand())
	complete(root)
	return root
}

// does wraps what a command does, once its arguments are understood.
func (a *app) does(run func(ctx context.Context) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, _ []string) error {
		a.started = true
		return run(cmd.Context())
	}
}

// noArguments refuses arguments, and tells those who passed files what to do.
func noArguments(hint string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > 0 {
			return fmt.Errorf("unexpected argument %q%s", args[0], hint)
		}
		return nil
	}
}

// versionCommand prints what this binary was built from.
func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArguments(""),
		RunE: a.does(func(context.Context) error {
			fmt.Fprintf(&a.stdout, "plimsoll %s\n", version())
			return nil
		}),
	}
}

// version says what this binary was built from, and with what.
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
