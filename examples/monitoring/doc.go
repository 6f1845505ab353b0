// Package monitoring has a CronJob, alerts and a Grafana dashboard for the metrics of "plimsoll consolidate -o
// openmetrics". Its tests run the job's commands, and evaluate all expressions as Prometheus does.
package monitoring
