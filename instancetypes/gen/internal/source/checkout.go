package source

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path"
	"path/filepath"
)

// Checkout is a git repository at a fixed commit, which is its own checksum.
type Checkout struct {
	// Repository is where it is cloned from, without the scheme.
	Repository, Commit string
	// Date is the day of the figures, as YYYY-MM-DD, where the files do not state it.
	Date string
}

// String returns repository@commit, the commit in short.
func (c Checkout) String() string { return c.Repository + "@" + c.Commit[:12] }

// CloudPrices has prices of Google Cloud's machine types in all regions, and which zones sell
// them.
func CloudPrices() Checkout {
	return Checkout{Repository: "github.com/Cyclenerd/google-cloud-pricing-cost-calculator", Commit: "fd66b26ff84fee5cdd94f341ea89206e76c06b99", Date: "2026-07-30"}
}

// KarpenterGCP has prices to compare with, and which disks machine families take.
func KarpenterGCP() Checkout {
	return Checkout{Repository: "github.com/cloudpilot-ai/karpenter-provider-gcp", Commit: "417f047b117521aba6d3ab120dac538a92161bf4", Date: "2026-08-06"}
}

// KarpenterAzure has prices of Azure's sizes in all regions, the zones of regions, and which
// sizes have GPUs.
func KarpenterAzure() Checkout {
	return Checkout{Repository: "github.com/Azure/karpenter-provider-azure", Commit: "352646f599290c3a6d2f9710fb535a7b288f88ed", Date: "2026-08-21"}
}

// Autoscaler has cores, memory and architecture of Azure's sizes.
func Autoscaler() Checkout {
	return Checkout{Repository: "github.com/kubernetes/autoscaler", Commit: "55c37cd5eb550756c5ccc5a89e9068d77797e575", Date: "2026-03-17"}
}

// Checkouts reads files of repositories from clones below one directory, each by the last part
// of its name. Their work trees do not matter, and neither does whether they have one.
type Checkouts struct{ Dir string }

// File returns a file of a repository as its commit has it.
func (c Checkouts) File(ctx context.Context, of Checkout, name string) ([]byte, error) {
	clone := filepath.Join(c.Dir, path.Base(of.Repository))
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, "git", "-C", clone, "show", of.Commit+":"+name)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s of %s in %s: %w: %s", name, of, clone, err, bytes.TrimSpace(stderr.Bytes()))
	}
	return stdout.Bytes(), nil
}

// read has a file of a repository read.
func (c Checkouts) read(ctx context.Context, of Checkout, name string, read func([]byte) error) error {
	data, err := c.File(ctx, of, name)
	if err == nil {
		if err = read(data); err != nil {
			err = fmt.Errorf("%s of %s: %w", name, of, err)
		}
	}
	return err
}
