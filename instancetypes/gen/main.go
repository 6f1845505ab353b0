package main

//go:generate go run .

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// run generates all files and says on log what became of it.
func run(ctx context.Context, args []string, log io.Writer) error {
	flags := flag.NewFlagSet("gen", flag.ContinueOnError)
	flags.SetOutput(log)
	out := flags.String("out", "..", "directory of package instancetypes, which holds ec2 and azure")
	verbose := flags.Bool("verbose", false, "name every type that is left out, with the reason")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	ec2, azure, err := build(ctx)
	if err != nil {
		return err
	}
	report := reporter{w: log, verbose: *verbose}
	report.ec2(ec2.out)
	report.azure(azure.out, azure.leftOut)
	total := 0
	for _, group := range []struct {
		pkg   string
		files files
	}{{"ec2", ec2.files}, {"azure", azure.files}} {
		n, err := group.files.write(*out, group.pkg)
		if err != nil {
			return err
		}
		total += n
		report.printf("%s: %d bytes in %d files\n", group.pkg, n, len(group.files))
	}
	report.printf("%d bytes in all\n", total)
	return report.err
}
