package controlplane

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Build builds a program of another module, which lies in the directory, and returns its file. The module of the tests need not
// require the other one.
func Build(t testing.TB, directory, pkg string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), filepath.Base(pkg))
	command := exec.CommandContext(t.Context(), "go", "build", "-o", file, pkg)
	command.Dir = directory
	out, err := command.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return file
}

// Program is a program in a process of its own.
type Program struct {
	command *exec.Cmd
	mu      sync.Mutex
	log     bytes.Buffer
}

// Run starts a program for a user of the control plane, who may do what RBAC allows, with the address of the API server in
// $KUBECONFIG. It is killed when the test ends, and its log is that of a test which fails.
func (p *ControlPlane) Run(t testing.TB, user, file string, args, environment []string) *Program {
	t.Helper()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, clientcmd.WriteToFile(kubeconfigOf(p.As(user)), kubeconfig))
	x := &Program{command: exec.Command(file, args...)} //nolint:gosec,noctx // the program of a test, which kills it
	x.command.Env = append(append(os.Environ(), environment...), "KUBECONFIG="+kubeconfig)
	x.command.Stdout, x.command.Stderr = x, x
	require.NoError(t, x.command.Start())
	t.Cleanup(func() {
		x.Kill()
		if t.Failed() {
			t.Logf("log of %s:\n%s", filepath.Base(file), x.Log())
		}
	})
	return x
}

// Write adds to the log.
func (x *Program) Write(p []byte) (int, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.log.Write(p)
}

// Log is what the program has written so far.
func (x *Program) Log() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.log.String()
}

// Kill kills the process, which has no time to end anything, and waits until it is gone.
func (x *Program) Kill() {
	if x.command.ProcessState == nil {
		_ = x.command.Process.Kill()
		_ = x.command.Wait()
	}
}

// kubeconfigOf is the kubeconfig of a client.
func kubeconfigOf(c *rest.Config) clientcmdapi.Config {
	out := clientcmdapi.NewConfig()
	out.Clusters["test"] = &clientcmdapi.Cluster{Server: c.Host, CertificateAuthorityData: c.CAData, TLSServerName: c.ServerName}
	out.AuthInfos["test"] = &clientcmdapi.AuthInfo{Token: c.BearerToken, Impersonate: c.Impersonate.UserName}
	out.Contexts["test"] = &clientcmdapi.Context{Cluster: "test", AuthInfo: "test"}
	out.CurrentContext = "test"
	return *out
}
