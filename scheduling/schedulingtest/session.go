package schedulingtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// session is the state that the commands of one scenario file share.
type session struct {
	problem scheduling.Problem
	// groups names the line of the scenario that each pod, as namespace/name,
	// comes from.
	groups map[string]string
	// daemons tells DaemonSet lines that are repeated from new ones.
	solver scheduling.Solver
	plan   *scheduling.Plan
	// broken collects promises that solves did not keep.
	broken []error
}

func newSession() *session {
	return &session{
		problem: scheduling.Problem{Now: time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)},
		groups:  map[string]string{},
	}
}

// handler runs one command: its words beside the name, and its input lines. What
// it returns is compared with the file.
type handler func(ctx context.Context, s *session, args []word, input []string) (string, error)

// handlers are the commands by name.
func handlers() map[string]handler {
	return map[string]handler{
		"catalog":        cmdCatalog,
		"pool":           cmdPool,
		"pods":           cmdPods,
		"nodes":          cmdNodes,
		"running":        cmdRunning,
		"daemonset":      cmdDaemonSet,
		"unavailable":    cmdUnavailable,
		"claims":         cmdClaims,
		"volumes":        cmdVolumes,
		"classes":        cmdClasses,
		"csi-nodes":      cmdCSINodes,
		"namespaces":     cmdNamespaces,
		"services":       cmdServices,
		"owners":         cmdOwners,
		"default-spread": cmdDefaultSpread,
		"solve":          cmdSolve,
		"verify":         cmdVerify,
	}
}

// run runs the block and returns what it prints; an error is printed, too.
func (s *session) run(ctx context.Context, b *block) string {
	words, err := splitWords(b.lines[0])
	if err != nil {
		return printError(err)
	}
	h, ok := handlers()[words[0].key]
	if !ok {
		return printError(fmt.Errorf("unknown command %q", words[0]))
	}
	out, err := h(ctx, s, words[1:], b.lines[1:])
	if err != nil {
		return printError(err)
	}
	return strings.TrimRight(out, "\n")
}

// printError is the form in which a scenario shows an error: without blank lines,
// which would end the block.
func printError(err error) string {
	var b strings.Builder
	for line := range strings.SplitSeq(strings.TrimSpace(err.Error()), "\n") {
		if line = strings.TrimSpace(line); line != "" {
			b.WriteString("error: " + line + "\n")
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// eachLine runs f for every line and names the lines that fail.
func eachLine(input []string, f func(line string) error) error {
	var errs []error
	for _, line := range input {
		if err := f(line); err != nil {
			name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

// count is "1 pod", "2 pods".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "s") {
		return fmt.Sprintf("%d %ses", n, noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
