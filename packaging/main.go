package main

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

//go:embed install.sh
var installScript string

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// run writes or pushes, and prints the names of files or tags.
func run(args []string) error {
	usage := errors.New("usage: packaging write VERSION FOLDER | packaging push VERSION FOLDER REPOSITORY")
	if len(args) < 3 {
		return usage
	}
	r, err := readRelease(args[1], args[2])
	if err != nil {
		return err
	}
	var names []string
	switch {
	case args[0] == "write" && len(args) == 3:
		names, err = writeAll(r)
	case args[0] == "push" && len(args) == 4:
		names, err = push(r, args[3])
	default:
		return usage
	}
	for _, name := range names {
		fmt.Println(name)
	}
	return err
}

// writeAll writes the files of a release beside its archives, and returns their names.
func writeAll(r *release) ([]string, error) {
	brew, err := formula(r)
	if err != nil {
		return nil, err
	}
	krew, err := krewManifest(r)
	if err != nil {
		return nil, err
	}
	texts := []struct {
		name, text string
		mode       os.FileMode
	}{
		{"plimsoll.rb", brew, 0o644},
		{"plimsoll.yaml", krew, 0o644},
		{"install.sh", strings.ReplaceAll(installScript, "@VERSION@", r.version), 0o755},
	}
	var names []string
	for _, t := range texts {
		names = append(names, t.name)
		if err := os.WriteFile(filepath.Join(r.folder, t.name), []byte(t.text), t.mode); err != nil {
			return nil, err
		}
	}
	images, err := writeImages(r)
	return append(names, images...), err
}
