package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
)

// openMetrics is the format of metrics for Prometheus.
const openMetrics = "openmetrics"

// destination is the format of an output, and the file that it goes to; "" is stdout.
type destination struct{ format, file string }

// destinationFlag adds the flag -o for a format, as [outputFlag] does, or for a file. endings are the formats of files
// by the ending of their names.
func destinationFlag(a *app, cmd *cobra.Command, usage string, endings map[string]string, formats ...string) *destination {
	format := outputFlag(a, cmd, usage, formats...)
	to := &destination{format: *format}
	flag := cmd.Flags().Lookup("output").Value.(*parsed) //nolint:forcetypeassert // outputFlag has made it
	readFormat := flag.read
	flag.read = func(text string) error {
		if ending := filepath.Ext(text); ending != "" {
			known := endings[ending]
			if known == "" {
				return fmt.Errorf("want one of %s, or a file whose name ends in %s", list(formats), list(slices.Sorted(maps.Keys(endings))))
			}
			to.format, to.file = known, text
			return nil
		}
		err := readFormat(text)
		to.format, to.file = *format, ""
		return err
	}
	return to
}

// deliver moves the text that is printed so far into the file, if there is one. It replaces the file as a whole, so that
// a program that reads it at the same time, such as node_exporter, sees the former file or the new one.
func (d *destination) deliver(a *app) error {
	if d.file == "" {
		return nil
	}
	err := replaceFile(d.file, a.stdout.Bytes())
	a.stdout.Reset()
	if err != nil {
		return fmt.Errorf("--output %s: %w", d.file, withoutPath(err))
	}
	return nil
}

// replaceFile writes a file that everybody may read, first under another name in the same folder.
func replaceFile(name string, text []byte) error {
	file, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file.Name()) }() // there is none any more if all went well
	_, err = file.Write(text)
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Chmod(file.Name(), 0o644) //nolint:gosec // the reader may be another user
	}
	if err == nil {
		err = os.Rename(file.Name(), name)
	}
	return err
}
