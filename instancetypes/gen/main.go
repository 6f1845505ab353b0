package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"

	"github.com/plimsoll-go/plimsoll/instancetypes/gen/internal/azuredata"
	"github.com/plimsoll-go/plimsoll/instancetypes/gen/internal/ec2data"
	"github.com/plimsoll-go/plimsoll/instancetypes/internal/azurefacts"
	"github.com/plimsoll-go/plimsoll/instancetypes/internal/embedded"
)

//go:generate go run .

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

// extension is that of the files of data.
const extension = ".gz"

// write puts the files into the directory data of a package and removes files of the
// same kind that are not among them. It returns their size together.
func (f files) write(root, pkg string) (int, error) {
	if _, err := os.Stat(filepath.Join(root, pkg)); err != nil {
		return 0, fmt.Errorf("no package %s in %s: %w", pkg, root, err)
	}
	dir := filepath.Join(root, pkg, "data")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return 0, err
	}
	total := 0
	for _, name := range slices.Sorted(maps.Keys(f)) {
		data, err := embedded.Encode(f[name])
		if err != nil {
			return 0, fmt.Errorf("%s: %w", name, err)
		}
		if err := os.WriteFile(filepath.Join(dir, name+extension), data, 0o644); err != nil {
			return 0, err
		}
		total += len(data)
	}
	stale, err := filepath.Glob(filepath.Join(dir, "*"+extension))
	if err != nil {
		return 0, err
	}
	for _, path := range stale {
		base := filepath.Base(path)
		if _, ok := f[base[:len(base)-len(extension)]]; ok {
			continue
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, err
		}
	}
	return total, nil
}

// reporter writes what was generated, for the person who runs the command.
type reporter struct {
	w       io.Writer
	verbose bool
	err     error
}

func (r *reporter) printf(format string, args ...any) {
	if r.err == nil {
		_, r.err = fmt.Fprintf(r.w, format, args...)
	}
}

func (r *reporter) ec2(out ec2data.Output) {
	derived := 0
	for _, s := range out.Shapes.List {
		if s.Derived {
			derived++
		}
	}
	r.printf("ec2: %d types, %d of them derived from their names; %d left out\n", len(out.Shapes.List), derived, len(out.LeftOut))
	for _, g := range out.Regions {
		r.printf("  %-16s %4d types\n", g.Name, len(g.Rows))
	}
	if r.verbose {
		for _, l := range out.LeftOut {
			r.printf("  left out: %s: %s\n", l.Type, l.Reason)
		}
	}
}

func (r *reporter) azure(g azurefacts.Region, leftOut []azuredata.LeftOut) {
	r.printf("azure: %s: %d sizes; %d left out\n", g.Name, len(g.Sizes), len(leftOut))
	if r.verbose {
		for _, l := range leftOut {
			r.printf("  left out: %s: %s\n", l.Size, l.Reason)
		}
	}
}
