package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/columns"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/skipped"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/usage"
)

// Run runs the command and returns its exit code. It reads nothing but stdin and the
// files that args name. When ctx is cancelled, a search ends and the best plan so far is
// printed; where none has begun, nothing is waited for.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := &app{view: view{width: columns.Width(stdout)}, args: args[min(1, len(args)):], stdin: stdin, stderr: stderr}
	root := a.root()                          //nolint:contextcheck // cobra passes the context to the command
	root.SetArgs(append([]string{}, args...)) // nil would stand for the arguments of the process
	root.SetIn(stdin)
	root.SetOut(&a.stdout)
	root.SetErr(stderr)
	finished := make(chan int, 1)
	go func() { finished <- a.main(ctx, root, stdout) }()
	select {
	case code := <-finished:
		return code
	case <-ctx.Done():
		if !a.searching.Load() {
			a.say("error: interrupted before a plan was found")
			return exitInterrupted
		}
		return <-finished
	}
}

// main runs the command and returns its exit code.
func (a *app) main(ctx context.Context, root *cobra.Command, stdout io.Writer) int {
	called, err := root.ExecuteContextC(ctx)
	if err == nil {
		if _, err = stdout.Write(a.stdout.Bytes()); err == nil {
			for _, line := range skipped.Lines(a.skipped) {
				a.say("%s", line)
			}
			if ctx.Err() != nil {
				a.say("interrupted: the output is the best plan found so far")
				return exitInterrupted
			}
			return a.code
		}
	}
	var wrong usageError
	if !a.started || errors.As(err, &wrong) {
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

// helpWidth is the width of the help, in characters, where stdout is no terminal.
const helpWidth = 140

// root builds the command with its subcommands.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "plimsoll COMMAND",
		Short: "Work out which nodes your pods need, and which you can remove",
		Long: `Plimsoll works out which nodes the pods of Kubernetes manifests need, at which price and with
which lower bound on it, and which running nodes can be removed or replaced. It runs offline:
no cluster access, no cloud credentials.

Exit codes: 0 every pod is placed; 3 some pods are not placed, and the plan is printed all the
same; 4 a price is above --fail-above; 5 lint has findings; 1 bad input; 2 wrong usage;
130 interrupted, the best plan so far is printed if there is one.`,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.Version = version()
	root.SetVersionTemplate("plimsoll {{.Version}}\n")
	root.SetFlagErrorFunc(flagError)
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		return usage.Write(cmd, cmp.Or(a.width, helpWidth), groupOf, groupInput, groupMarket, groupBuy, groupRemove, groupSearch, groupOutput)
	})
	root.AddCommand(planCommand(a), consolidateCommand(a), reportCommand(a), whatifCommand(a), diffCommand(a), lintCommand(a), redactCommand(a), explainCommand(a), verifyCommand(a), catalogCommand(a), pricesCommand(a), versionCommand(a))
	complete(root)
	return root
}

// versionCommand prints the version, the Go release and the platform of this binary.
func versionCommand(a *app) *cobra.Command {
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
