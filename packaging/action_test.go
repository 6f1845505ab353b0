package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// action is as much of action.yml as its runner reads.
type action struct {
	Inputs map[string]struct {
		Required bool
		Default  *string
	}
	Runs struct {
		Using string
		Steps []struct {
			Name, Shell, Run string
			Env              map[string]string
		}
	}
}

// workflow runs the action as GitHub's runner does: each step in Bash, with expressions only in its environment. gh is a
// fake, which keeps comments in a folder.
type workflow struct {
	repository, temp, comments string
	event                      map[string]any
}

// web is a Deployment of so many replicas.
func web(replicas string) string {
	return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: " + replicas +
		"\n  selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n" +
		"    spec: {containers: [{name: c, resources: {requests: {cpu: 2, memory: 4Gi}}}]}\n"
}

// newWorkflow has a repository whose pull request raises the replicas of deploy/web.yaml from 2 to 8, and adds new/web.yaml;
// it is checked out as actions/checkout does, with one commit.
func newWorkflow(t *testing.T) *workflow {
	t.Helper()
	origin, temp := t.TempDir(), t.TempDir()
	w := &workflow{repository: filepath.Join(temp, "of the user"), temp: temp, comments: t.TempDir()}
	write := func(name, text string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(origin, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(origin, name), []byte(text), 0o644))
	}
	git := func(folder string, args ...string) string {
		cmd := exec.Command("git", append([]string{"-C", folder, "-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main"}, args...)...)
		return strings.TrimSpace(output(t, cmd))
	}
	git(origin, "init", "--quiet")
	git(origin, "config", "uploadpack.allowAnySHA1InWant", "true") // as GitHub has it
	write("deploy/web.yaml", web("2"))
	write("broken/web.yaml", "kind: Deployment\n")
	git(origin, "add", "-A")
	git(origin, "commit", "--quiet", "-m", "base")
	base := git(origin, "rev-parse", "HEAD")
	write("deploy/web.yaml", web("8"))
	write("new/web.yaml", web("1"))
	write("pools/pool.yaml", "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: general}\nspec: {template: {spec: {requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}]}}}\n")
	git(origin, "add", "-A")
	git(origin, "commit", "--quiet", "-m", "head")
	git(temp, "clone", "--quiet", "--depth=1", "file://"+origin, w.repository)
	w.event = map[string]any{"pull_request": map[string]any{"number": 7, "base": map[string]any{"sha": base, "ref": "main"}}}
	return w
}

// run runs the action with inputs. The error is that of the first step that fails.
func (w *workflow) run(t *testing.T, inputs map[string]string) (log, summary string, err error) {
	t.Helper()
	text, err := os.ReadFile("../github-action/action.yml")
	require.NoError(t, err)
	var a action
	require.NoError(t, yaml.Unmarshal(text, &a))
	require.Equal(t, "composite", a.Runs.Using)
	for name := range inputs {
		require.Contains(t, a.Inputs, name)
	}
	context := map[string]any{"inputs": map[string]any{}, "github": map[string]any{"event": w.event, "token": "of-the-job"}}
	for name, input := range a.Inputs {
		value, given := inputs[name]
		if !given && input.Default != nil {
			value = evaluate(t, *input.Default, context)
		}
		require.False(t, input.Required && value == "", name)
		context["inputs"].(map[string]any)[name] = value
	}
	bin := filepath.Join(w.temp, "bin")
	require.NoError(t, os.MkdirAll(bin, 0o755))
	gh := `#!/bin/sh
echo "$GH_TOKEN $*" >>"` + w.comments + `/calls"
[ "$GH_TOKEN" = of-the-job ] || { echo 'HTTP 403' >&2; exit 1; }
for last; do :; done
case $* in
*--jq*) grep -lF "$(echo "$last" | sed 's/.*startswith("\([^"]*\)").*/\1/')" "` + w.comments + `"/comment-* 2>/dev/null | sed 's/.*comment-//'; exit 0 ;;
*POST*) to=$(ls "` + w.comments + `" | wc -l) ;;
*PATCH*) to=$(echo "$*" | sed 's|.*comments/\([0-9]*\) .*|\1|') ;;
esac
cp "${last#body=@}" "` + w.comments + `/comment-$to"
`
	require.NoError(t, os.WriteFile(filepath.Join(bin, "gh"), []byte(gh), 0o755))
	folder, err := filepath.Abs("../github-action")
	require.NoError(t, err)
	files := map[string]string{}
	for _, name := range []string{"GITHUB_PATH", "GITHUB_STEP_SUMMARY"} {
		files[name] = filepath.Join(w.temp, name)
		require.NoError(t, os.WriteFile(files[name], nil, 0o644))
	}
	path := bin + ":" + os.Getenv("PATH")
	for _, step := range a.Runs.Steps {
		require.Equal(t, "bash", step.Shell)
		require.NotContains(t, step.Run, "${{", "text of a pull request must not become a script")
		cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step.Run)
		cmd.Dir = w.repository
		added, err := os.ReadFile(files["GITHUB_PATH"])
		require.NoError(t, err)
		cmd.Env = []string{
			"HOME=" + w.temp, "PATH=" + strings.TrimSpace(string(added)) + ":" + path, "RUNNER_TEMP=" + w.temp,
			"GITHUB_ACTION_PATH=" + folder, "GITHUB_REPOSITORY=shop/deploy",
		}
		for name, file := range files {
			cmd.Env = append(cmd.Env, name+"="+file)
		}
		for name, value := range step.Env {
			cmd.Env = append(cmd.Env, name+"="+evaluate(t, value, context))
		}
		printed, err := cmd.CombinedOutput()
		log += string(printed)
		if err != nil {
			return log, "", err
		}
	}
	text, err = os.ReadFile(files["GITHUB_STEP_SUMMARY"])
	require.NoError(t, err)
	return log, string(text), nil
}

// evaluate puts values in place of expressions; those that do not exist are empty, as on GitHub.
func evaluate(t *testing.T, text string, context map[string]any) string {
	t.Helper()
	return regexp.MustCompile(`\$\{\{ ([a-z0-9_.-]+) \}\}`).ReplaceAllStringFunc(text, func(expression string) string {
		var value any = context
		for _, name := range strings.Split(strings.Trim(expression, "${} "), ".") {
			object, _ := value.(map[string]any)
			value = object[name]
		}
		if value == nil {
			return ""
		}
		if s, ok := value.(string); ok {
			return s
		}
		out, err := json.Marshal(value)
		require.NoError(t, err)
		return string(out)
	})
}

// commented are the comments of the pull request, in their order.
func (w *workflow) commented(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(w.comments, "comment-*"))
	require.NoError(t, err)
	var out []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		out = append(out, string(text))
	}
	return out
}

func TestActionCommentsThePriceOfAPullRequest(t *testing.T) {
	r, w := released(t), newWorkflow(t)
	inputs := map[string]string{"manifests": "deploy", "context": "pools/pool.yaml\n", "args": "--effort fast --catalog ec2/us-east-1", "version": version, "mirror": r.folder}
	log, summary, err := w.run(t, inputs)
	require.NoError(t, err, log)
	require.Contains(t, log, "commented\n")
	comments := w.commented(t)
	require.Len(t, comments, 1)
	require.Regexp(t, `^<!-- plimsoll \S+ -->\n## The nodes cost \$[0-9,]+ per month more \(\+`, comments[0])
	require.Contains(t, comments[0], "| base/deploy | ")
	require.Contains(t, comments[0], "| head/deploy | ")
	require.Contains(t, comments[0], "| default/web | 2 → 8 |")
	require.Equal(t, comments[0][strings.Index(comments[0], "\n")+1:], summary)

	// A second run changes the comment; another path has its own, and need not be in the base.
	_, _, err = w.run(t, inputs)
	require.NoError(t, err)
	require.Len(t, w.commented(t), 1)
	inputs["manifests"] = "new/"
	_, summary, err = w.run(t, inputs)
	require.NoError(t, err)
	require.Len(t, w.commented(t), 2)
	require.Contains(t, summary, "| default/web | 0 → 1 |")

	inputs["manifests"], inputs["fail-above"] = "deploy", "1/month"
	log, _, err = w.run(t, inputs)
	require.Error(t, err)
	require.Contains(t, log, "commented\n", "the comment says why")
	require.Contains(t, log, "::error::the pull request costs more than 1/month in addition\n")
	inputs["fail-above"] = "100000/month"
	_, _, err = w.run(t, inputs)
	require.NoError(t, err)

	// A pull request of a fork has a token that may not comment.
	inputs["token"] = "of-a-fork"
	log, summary, err = w.run(t, inputs)
	require.NoError(t, err)
	require.Contains(t, log, "::warning::cannot comment")
	require.Contains(t, summary, "## The nodes cost ")
}

func TestActionRefuses(t *testing.T) {
	r := released(t)
	for want, change := range map[string]func(w *workflow, inputs map[string]string){
		"::error::manifests: there is no deploys in the repository": func(_ *workflow, inputs map[string]string) { inputs["manifests"] = "deploys" },
		"::error::this action comments on pull requests":            func(w *workflow, _ map[string]string) { w.event = map[string]any{"ref": "refs/heads/main"} },
		"::error::error: base/broken/web.yaml":                      func(_ *workflow, inputs map[string]string) { inputs["manifests"] = "broken" },
		"::error::cannot fetch the base 0123456789012345678901234567890123456789": func(w *workflow, _ map[string]string) {
			w.event["pull_request"].(map[string]any)["base"] = map[string]any{"sha": "0123456789012345678901234567890123456789"}
		},
		"unknown flag: --no-such-flag":        func(_ *workflow, inputs map[string]string) { inputs["args"] = "--no-such-flag" },
		"has no archive for linux/":           func(_ *workflow, inputs map[string]string) { inputs["version"] = "v9.9.9" },
		"version 1; rm -rf /: want one such ": func(_ *workflow, inputs map[string]string) { inputs["version"] = "1; rm -rf /" },
	} {
		w := newWorkflow(t)
		inputs := map[string]string{"manifests": "deploy", "args": "--catalog ec2/us-east-1", "version": version, "mirror": r.folder}
		change(w, inputs)
		log, _, err := w.run(t, inputs)
		require.Error(t, err, want)
		require.Contains(t, log, want)
		require.Empty(t, w.commented(t), want)
	}
}
