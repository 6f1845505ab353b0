package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/internal/race"
)

// With this variable the tests' binary is the command.
const asCommand = "PLIMSOLL_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
	}
	_ = os.Unsetenv("COLUMNS") // tables are as wide as without a terminal
	os.Exit(m.Run())
}

// interruptedAfter runs the command for a while, and then sends it a signal.
func interruptedAfter(t *testing.T, wait time.Duration, signal os.Signal, args ...string) result {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), asCommand+"=1")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	_, err := cmd.StdinPipe() // nothing comes, and it stays open until the command has ended
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	time.Sleep(wait)
	require.NoError(t, cmd.Process.Signal(signal))
	_ = cmd.Wait() // the exit code tells
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// laborious is many workloads of pods of random sizes, over which a search takes its time.
func laborious() string {
	random := rand.New(rand.NewPCG(3, 4))
	var b strings.Builder
	for i := range 400 {
		fmt.Fprintf(&b, `---
apiVersion: apps/v1
kind: Deployment
metadata: {name: w%d, namespace: shop}
spec:
  replicas: %d
  selector: {matchLabels: {app: w%[1]d}}
  template:
    metadata: {labels: {app: w%[1]d}}
    spec: {containers: [{name: c, image: x, resources: {requests: {cpu: %dm, memory: %dMi}}}]}
`, i, 1+random.IntN(12), 50+random.IntN(4000), 64+random.IntN(16000))
	}
	return b.String()
}

func TestAnInterruptedSearchPrintsTheBestPlanSoFar(t *testing.T) {
	if race.Enabled {
		t.Skip("a search takes long to start and to end")
	}
	file := temp(t, "shop.yaml", laborious())
	var r result
	for wait := time.Second; wait < time.Minute; wait *= 2 {
		r = interruptedAfter(t, wait, os.Interrupt, "plan", "--alternatives", "--effort", "1000000000", "-f", file)
		if r.code == exitInterrupted && !strings.Contains(r.stderr, "before a plan was found") {
			break // else it had not started, or was still reading
		}
	}
	require.Equal(t, exitInterrupted, r.code, r.stderr)
	require.Contains(t, r.stdout, "and possibly more: the search was stopped by an interrupt.")
	require.Contains(t, r.stdout, "  cheapest")
	require.Equal(t, "interrupted: the output is the best plan found so far\n", r.stderr)
}

func TestAnInterruptWhileReadingEndsAtOnce(t *testing.T) {
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		var r result
		for wait := 300 * time.Millisecond; wait < time.Minute; wait *= 2 {
			if r = interruptedAfter(t, wait, signal, "plan", "-f", "-"); r.code >= 0 {
				break // else it had not started
			}
		}
		require.Equal(t, exitInterrupted, r.code, r.stderr)
		require.Empty(t, r.stdout)
		require.Equal(t, "error: interrupted before a plan was found\n", r.stderr)
	}
}

// whenSearching is a context that is cancelled as soon as a search asks for how long it may go on.
type whenSearching struct {
	context.Context //nolint:containedctx // it is one itself

	cancel context.CancelFunc
}

func (c whenSearching) Deadline() (time.Time, bool) {
	c.cancel()
	return c.Context.Deadline()
}

func (c whenSearching) Err() error {
	c.cancel()
	return c.Context.Err()
}

func TestInterruptedPlansAreMarked(t *testing.T) {
	plan := []string{"plan", "-f", services}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{plan, "The search was stopped by an interrupt; more time may find a cheaper one.\n"},
		{append(plan, "--timeout", "1h"), "The search was stopped by an interrupt; more time may find a cheaper one.\n"},
		{append(plan, "-o", "json"), `"status": "deadline"`},
		{append(plan, "-o", "nodeclaims"), "kind: NodeClaim\n"},
		{waste(), "The search was stopped by an interrupt; a longer search may find further steps.\n"},
		{waste("-o", "yaml"), "status: deadline\n"},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		var stdout, stderr strings.Builder
		code := Run(whenSearching{ctx, cancel}, tt.args, nil, &stdout, &stderr)
		require.Equal(t, exitInterrupted, code, stderr.String())
		require.Contains(t, stdout.String(), tt.want)
		require.Contains(t, stderr.String(), "interrupted: the output is the best plan found so far\n")
	}
}
