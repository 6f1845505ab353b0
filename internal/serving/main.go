package serving

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Main is the main function of a program: it calls run with the arguments of the command line and stderr, and ends its
// context at the first SIGINT or SIGTERM; a second one kills the process. An error of run is printed behind the name of
// the program, and makes the exit code 1; [flag.ErrHelp] is none.
func Main(name string, run func(ctx context.Context, args []string, stderr io.Writer) error) (code int) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stderr)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		return 1
	}
	return 0
}

// Parse reads the command line of a program that takes flags only.
func Parse(flags *flag.FlagSet, args []string) error {
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("argument %q: there are flags only", flags.Arg(0))
	}
	return nil
}
