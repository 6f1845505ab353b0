package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/cmd/internal/redact"
)

func main() {
	// The terminal sends an interrupt to the child processes, too. The plugin must outlive them to return their exit code.
	signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	p := plugin{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr}
	os.Exit(p.run(os.Args[1:]))
}

// Exit codes in addition to the exit codes of plimsoll.
const (
	exitBadInput = 1
	exitUsage    = 2
)

const usage = `Usage:
  kubectl plimsoll COMMAND [FLAGS]

COMMAND and FLAGS are those of plimsoll, such as consolidate, whatif, lint or plan; the state of the
cluster is its input, as with -f. "kubectl plimsoll COMMAND --help" lists the flags.

The flags that "kubectl options" lists, such as --context, --kubeconfig and --as, may stand before and after
COMMAND. Plans are made for the whole cluster: -n is the namespace of the objects that explain is asked
about, and limits nothing else.
`

// kinds are the resources that plimsoll reads from a cluster, as the API server names them.
func kinds() []string {
	return []string{
		"pods", "nodes", "namespaces", "services", "persistentvolumeclaims", "persistentvolumes", "storageclasses.storage.k8s.io", "csinodes.storage.k8s.io",
		"daemonsets.apps", "deployments.apps", "replicasets.apps", "statefulsets.apps", "poddisruptionbudgets.policy", "horizontalpodautoscalers.autoscaling",
		"nodepools.karpenter.sh", "nodeclaims.karpenter.sh", "nodeoverlays.karpenter.sh", "ec2nodeclasses.karpenter.k8s.aws", "nodeclasses.eks.amazonaws.com", "aksnodeclasses.karpenter.azure.com",
		"gcenodeclasses.karpenter.k8s.gcp", "computeclasses.cloud.google.com",
	}
}

// reads reports whether a command of plimsoll reads a cluster.
func reads(command string, args []string) bool {
	return slices.Contains([]string{"plan", "consolidate", "whatif", "lint", "explain", "verify", "report", "redact"}, command) &&
		!slices.ContainsFunc(args, func(arg string) bool { return arg == "-h" || arg == "--help" })
}

// plugin is one run.
type plugin struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	cluster        []string // kubectl's flags, see [call]
}

// say prints a line on stderr. Errors are ignored, because there is no other place to report them.
func (p *plugin) say(format string, args ...any) {
	_, _ = fmt.Fprintf(p.stderr, format+"\n", args...)
}

// run runs plimsoll on the objects that kubectl lists, and returns the exit code.
func (p *plugin) run(args []string) int {
	c, err := parseCall(args)
	switch {
	case err != nil:
		p.say("error: %v\n\n%s", err, strings.TrimSuffix(usage, "\n"))
		return exitUsage
	case c.help:
		_, _ = io.WriteString(p.stdout, usage)
		return 0
	case len(c.command) == 0:
		_, _ = io.WriteString(p.stderr, usage)
		return exitUsage
	}
	p.cluster, args = c.cluster, c.command
	if c.namespace != "" {
		if args[0] == "explain" {
			args = slices.Insert(args, 1, "--namespace="+c.namespace)
		} else if reads(args[0], args[1:]) {
			p.say("warning: --namespace %s is ignored: plans need the pods of all namespaces", c.namespace)
		}
	}
	plimsoll, err := find()
	if err != nil {
		p.say("error: %v", err)
		return exitBadInput
	}
	if !reads(args[0], args[1:]) {
		return p.wait(p.command(plimsoll, p.stdin, args...))
	}
	code, err := p.stream(plimsoll, slices.Insert(args, 1, "-f", "-"))
	if err != nil {
		p.say("error: %v", err)
	}
	return code
}

// find returns the path of plimsoll: beside this program, or in PATH.
func find() (string, error) {
	if self, err := os.Executable(); err == nil {
		if target, err := filepath.EvalSymlinks(self); err == nil {
			self = target // krew links to the plugin from a folder without plimsoll
		}
		if path, err := exec.LookPath(filepath.Join(filepath.Dir(self), "plimsoll")); err == nil {
			return path, nil
		}
	}
	path, err := exec.LookPath("plimsoll")
	if err != nil {
		return "", errors.New("plimsoll is neither next to kubectl-plimsoll nor in PATH")
	}
	return path, nil
}

// command is a command that prints to where the plugin does.
func (p *plugin) command(name string, stdin io.Reader, args ...string) *exec.Cmd {
	c := exec.Command(name, args...)
	c.Stdin, c.Stdout, c.Stderr = stdin, p.stdout, p.stderr
	return c
}

// wait runs a command and returns its exit code.
func (p *plugin) wait(c *exec.Cmd) int {
	var exit *exec.ExitError
	switch err := c.Run(); {
	case errors.As(err, &exit) && exit.ExitCode() >= 0:
		return exit.ExitCode()
	case err != nil:
		p.say("error: %v", err)
		return exitBadInput
	}
	return 0
}

// stream passes the objects that kubectl lists to plimsoll. kubectl prints an error for each kind that it may not list;
// plans are then made without that kind.
func (p *plugin) stream(plimsoll string, args []string) (code int, err error) {
	served, err := p.served()
	if err != nil {
		return exitBadInput, err
	}
	get := p.command("kubectl", nil, append([]string{"get", strings.Join(served, ","), "--all-namespaces", "-o", "json"}, p.cluster...)...)
	get.Stdout = nil
	objects, err := get.StdoutPipe()
	if err != nil {
		return exitBadInput, err
	}
	if err := get.Start(); err != nil {
		return exitBadInput, err
	}
	in, out := io.Pipe()
	finished := make(chan int)
	started := false
	err = each(objects, func(o redact.Object) error {
		if !started {
			started = true
			go func() {
				code := p.wait(p.command(plimsoll, in, args...))
				_ = in.CloseWithError(io.ErrClosedPipe) // plimsoll reads no more
				finished <- code
			}()
		}
		redact.Strip(o)
		return json.NewEncoder(out).Encode(o)
	})
	_, _ = io.Copy(io.Discard, objects) // for kubectl to end
	got := get.Wait()
	if !started {
		return exitBadInput, errors.Join(err, got, errors.New("kubectl get printed no objects"))
	}
	if got != nil {
		p.say("warning: kubectl could not list every kind; missing objects are not part of the plan")
	}
	_ = out.CloseWithError(err) // nil is the end
	if code = <-finished; code != 0 || errors.Is(err, io.ErrClosedPipe) {
		return code, nil
	}
	return code, err
}

// served are the kinds that the cluster has.
func (p *plugin) served() ([]string, error) {
	var names bytes.Buffer
	c := p.command("kubectl", nil, append([]string{"api-resources", "--verbs=list", "-o", "name"}, p.cluster...)...)
	c.Stdout = &names
	err := c.Run()
	out := slices.DeleteFunc(kinds(), func(kind string) bool { return !slices.Contains(strings.Fields(names.String()), kind) })
	if len(out) == 0 {
		return nil, errors.Join(errors.New("kubectl api-resources lists none of the kinds that plimsoll reads"), err)
	}
	return out, nil // a group that does not answer is one that has no say in plans
}

// each hands on the items of a list as they come.
func each(list io.Reader, take func(redact.Object) error) error {
	dec := json.NewDecoder(list)
	dec.UseNumber()
	for depth := 0; ; {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading the output of kubectl: %w", err)
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		case "items":
			if depth != 1 {
				continue
			}
			if _, err := dec.Token(); err != nil { // [
				return fmt.Errorf("reading the output of kubectl: %w", err)
			}
			for dec.More() {
				var o redact.Object
				if err := dec.Decode(&o); err != nil {
					return fmt.Errorf("reading the output of kubectl: %w", err)
				}
				if err := take(o); err != nil {
					return err
				}
			}
			if _, err := dec.Token(); err != nil { // ]
				return fmt.Errorf("reading the output of kubectl: %w", err)
			}
		}
	}
}
