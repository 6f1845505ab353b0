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
	"strings"

	"github.com/plimsoll-go/plimsoll/instancetypes/gen/internal/source"
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

// run generates all files and writes a summary to log.
func run(ctx context.Context, args []string, log io.Writer) error {
	flags := flag.NewFlagSet("gen", flag.ContinueOnError)
	flags.SetOutput(log)
	out := flags.String("out", "..", "directory of package instancetypes, which holds ec2, azure and gcp")
	dir := flags.String("checkouts", os.Getenv("PLIMSOLL_CHECKOUTS"), "directory with a clone of each repository that is no Go module, by its name")
	only := flags.String("clouds", strings.Join(clouds(), ","), "which clouds to make")
	verbose := flags.Bool("verbose", false, "name every type that is left out, with the reason")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	report := reporter{w: log, verbose: *verbose}
	total := 0
	for cloud := range strings.SplitSeq(*only, ",") {
		made, err := build(ctx, cloud, source.Checkouts{Dir: *dir})
		if err != nil {
			return fmt.Errorf("%s: %w", cloud, err)
		}
		n, err := made.files().write(*out, cloud)
		if err != nil {
			return err
		}
		if len(made.check.Pairs) > 0 {
			if err := os.WriteFile(filepath.Join(*out, cloud, "crosscheck.md"), []byte(made.check.Markdown()), 0o644); err != nil {
				return err
			}
		}
		report.tables(&made, n)
		total += n
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

// reporter writes the results of generation, for the person who runs the command.
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

func (r *reporter) tables(t *tables, bytes int) {
	r.printf("%s: %d types; %d left out; %d bytes in %d files\n", t.cloud, len(t.shapes.List), len(t.leftOut), bytes, len(t.regions)+1)
	if n := len(t.check.Pairs); n > 0 {
		r.printf("  of %d prices that %s has, too, %d differ by more than 1 %%\n", n, t.check.Theirs, t.check.Differing())
	}
	for _, note := range t.notes {
		r.printf("  %s\n", note)
	}
	for _, g := range t.regions {
		spot, assumed := 0, 0
		for _, row := range g.Rows {
			if row.Spot > 0 {
				spot++
			}
			if row.Assumed {
				assumed++
			}
		}
		r.printf("  %-24s %4d types, %4d spot prices, zones of %4d assumed\n", g.Name, len(g.Rows), spot, assumed)
	}
	if r.verbose {
		for _, l := range t.leftOut {
			r.printf("  left out: %s\n", l)
		}
	}
}
