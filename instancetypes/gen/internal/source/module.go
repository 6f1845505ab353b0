package source

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
)

// Module is a Go module at a fixed version.
type Module struct {
	Path, Version string
	// Sum is the checksum of the module's content as in go.sum. With it the same
	// figures come out on every machine.
	Sum string
}

// String returns path@version.
func (m Module) String() string { return m.Path + "@" + m.Version }

// Instances describes all EC2 machines and Azure sizes with their prices.
func Instances() Module {
	return Module{
		Path:    "github.com/cristim/ec2-instances-info",
		Version: "v0.0.0-20250528091325-32acf84f42eb",
		Sum:     "h1:exJ9FsMTbotSG5xgDHmFJE84gV3MZ4JRpR8nhbgJz/k=",
	}
}

// Limits tells how many network interfaces and addresses EC2 machines have.
func Limits() Module {
	return Module{
		Path:    "github.com/aws/amazon-vpc-resource-controller-k8s",
		Version: "v1.8.2",
		Sum:     "h1:S6fvZf7+Xjho4LLo2AdxT3x9yaOJ37Ly/eGQd+ASWi4=",
	}
}

// Karpenter has fresher on-demand prices of some regions, and network bandwidths.
func Karpenter() Module {
	return Module{
		Path:    "github.com/aws/karpenter-provider-aws",
		Version: "v1.14.1",
		Sum:     "h1:WGtIQTQcxpElYMdWfWuPwaF2+9muR+hYhPZsTtoY8Gs=",
	}
}

// Fetch returns the directory of a module in the module cache, after downloading it
// if it is not there. A module whose content differs from Sum is an error.
func Fetch(ctx context.Context, m Module) (dir string, err error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", m.String())
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	runErr := cmd.Run()
	return parseDownload(m, stdout.Bytes(), stderr.Bytes(), runErr)
}

// parseDownload reads the output of "go mod download -json". The output of a failure holds
// the reason in the field Error.
func parseDownload(m Module, stdout, stderr []byte, runErr error) (string, error) {
	var answer struct{ Dir, Sum, Error string }
	if err := json.Unmarshal(stdout, &answer); err != nil {
		if runErr != nil {
			err = runErr
		}
		return "", fmt.Errorf("download %s: %w: %s", m, err, bytes.TrimSpace(stderr))
	}
	switch {
	case answer.Error != "":
		return "", fmt.Errorf("download %s: %s", m, answer.Error)
	case runErr != nil:
		return "", fmt.Errorf("download %s: %w: %s", m, runErr, bytes.TrimSpace(stderr))
	case answer.Sum != m.Sum:
		return "", fmt.Errorf("download %s: content has checksum %s, want %s", m, answer.Sum, m.Sum)
	}
	return answer.Dir, nil
}
