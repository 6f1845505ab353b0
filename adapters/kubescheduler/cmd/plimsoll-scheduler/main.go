package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-scheduler/app"

	"github.com/plimsoll-go/plimsoll/adapters/kubescheduler"
)

func main() {
	plugin := kubescheduler.Factory(kubescheduler.Options{})
	os.Exit(cli.Run(app.NewSchedulerCommand(app.WithPlugin(kubescheduler.Name, plugin))))
}
