package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// The lines between which the table stands.
const (
	begin = "<!-- begin of the table -->"
	end   = "<!-- end of the table -->"
)

func main() {
	if err := run(os.Args[1:], os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "table:", err)
		os.Exit(1)
	}
}

func run(args []string, in io.Reader) error {
	if len(args) != 1 {
		return errors.New("want the name of one file")
	}
	output, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	rows := parse(string(output))
	if len(rows) == 0 {
		return errors.New("the input has no benchmark")
	}
	file, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	text, err := replace(string(file), markdown(rows))
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	return os.WriteFile(args[0], []byte(text), 0o644)
}

// replace puts the table between the markers.
func replace(text, table string) (string, error) {
	head, rest, ok := strings.Cut(text, begin+"\n")
	if !ok {
		return "", fmt.Errorf("lacks the line %s", begin)
	}
	_, tail, ok := strings.Cut(rest, end)
	if !ok {
		return "", fmt.Errorf("lacks the line %s", end)
	}
	return head + begin + "\n" + table + end + tail, nil
}
