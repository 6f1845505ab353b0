package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "dumps:", err)
		os.Exit(1)
	}
}

// run is the command without its process.
func run(args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("dumps", flag.ContinueOnError)
	flags.SetOutput(stderr)
	kind := flags.String("kind", "eks-karpenter", "`kind` of cluster: "+strings.Join(kinds(), ", "))
	nodes := flags.Int("nodes", 40, "how many `nodes` there are")
	seed := flags.Uint64("seed", 1, "what the cluster is drawn from")
	now := flags.String("now", "2026-11-21T09:00:00Z", "`time` of the dump")
	if err := flags.Parse(args); err != nil {
		return err
	}
	at, err := time.Parse(time.RFC3339, *now)
	if err != nil {
		return fmt.Errorf("-now %s: is no time such as 2026-11-21T09:00:00Z", *now)
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("argument %q is not expected", flags.Arg(0))
	}
	items, err := dump(*kind, *nodes, *seed, at)
	if err != nil {
		return err
	}
	return write(stdout, items)
}

// dump draws the objects of a cluster of a kind.
func dump(kind string, nodes int, seed uint64, now time.Time) ([]any, error) {
	v, ok := vendorOf(kind)
	if !ok {
		return nil, fmt.Errorf("-kind %s: there are %s", kind, strings.Join(kinds(), ", "))
	}
	if nodes < len(v.groups) {
		return nil, fmt.Errorf("-nodes %d: must be at least %d, one for each group of nodes", nodes, len(v.groups))
	}
	c := newCluster(v, seed, now)
	if err := c.buildNodes(nodes); err != nil {
		return nil, err
	}
	c.fill()
	c.scaleDown()
	c.collect()
	return c.items, c.err
}

// write prints the objects as kubectl does.
func write(w io.Writer, items []any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(map[string]any{"apiVersion": "v1", "kind": "List", "metadata": map[string]any{"resourceVersion": ""}, "items": items})
}
