package report

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// Runbook is the commands for the steps, in their order, as a shell reads them: the cordon of all nodes that the steps
// remove, then a drain for each step. It is one subshell that ends with the first command that fails, and that waits for
// Enter before a drain whose nodes must be launched first, and after each drain, so that it may be pasted as a whole.
// Launches are not commands, because the autoscaler or a node group launches nodes.
func (p page) Runbook() string {
	var b strings.Builder
	b.WriteString("(\nset -e\n")
	if len(p.Cordon) > 0 {
		fmt.Fprintf(&b, "# Before step 1: keep evicted pods off the nodes that will be removed.\nkubectl cordon%s\n", quoted(p.Cordon))
	}
	wait := func(text string) { fmt.Fprintf(&b, "printf %%s%s; read -r _ </dev/tty\n", quoted([]string{text})) }
	for i, s := range p.Steps {
		fmt.Fprintf(&b, "\n# Step %d of %d, %s\n", i+1, len(p.Steps), s.Reason)
		if len(s.Launches) > 0 {
			wait("Launch " + printable(s.Launched()) + ". Press Enter when it is ready: ")
		}
		force := ""
		if slices.ContainsFunc(p.Risks, func(r Risk) bool { return r.Code == disruption.RiskBarePod && slices.Contains(r.Steps, i+1) }) {
			force = " --force"
		}
		fmt.Fprintf(&b, "kubectl drain%s --ignore-daemonsets --delete-emptydir-data%s --timeout=15m\n", quoted(s.Drain), force)
		b.WriteString("kubectl get pods -A --field-selector status.phase=Pending\n")
		wait("Press Enter when no evicted pod is pending and the drained nodes are removed: ")
	}
	b.WriteString(")\n\n# If you stop before the last step: kubectl uncordon the nodes of the steps that are not done.\n")
	return b.String()
}

var unquoted = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)

// quoted are the names as arguments of a shell, each after a space.
func quoted(names []string) string {
	var b strings.Builder
	for _, name := range names {
		if !unquoted.MatchString(name) {
			name = "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
		}
		b.WriteString(" " + name)
	}
	return b.String()
}
