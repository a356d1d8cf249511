// Package sarif writes findings in SARIF 2.1.0, the format that code scanning services read. The types are the part of the
// standard (OASIS, sarif-v2.1.0) that gocute needs, under the standard's names.
package sarif

import (
	"bytes"
	"encoding/json"
)

const (
	version = "2.1.0"
	schema  = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

	// Project is where the rules' help is.
	Project = "https://github.com/gocute/gocute"
	// sourceRoot stands for the root of the repository.
	sourceRoot = "%SRCROOT%"
)

// Log is a SARIF file.
type Log struct {
	Schema  string `json:"$schema"`
	Version string `json:"version"`
	Runs    []Run  `json:"runs"`
}

// Run is one run of gocute check.
type Run struct {
	Tool        Tool                        `json:"tool"`
	Invocations []Invocation                `json:"invocations"`
	BaseIDs     map[string]ArtifactLocation `json:"originalUriBaseIds"`
	Results     []Result                    `json:"results"`
}

// Tool is gocute.
type Tool struct {
	Driver Driver `json:"driver"`
}

// Driver is gocute with its rules.
type Driver struct {
	Name           string `json:"name"`
	Version        string `json:"version"`
	InformationURI string `json:"informationUri"`
	Rules          []Rule `json:"rules"`
}

// Rule is a kind of finding.
type Rule struct {
	ID            string        `json:"id"`
	Name          string        `json:"name"`
	Short         Text          `json:"shortDescription"`
	Full          Text          `json:"fullDescription"`
	Help          Help          `json:"help"`
	HelpURI       string        `json:"helpUri"`
	Configuration Configuration `json:"defaultConfiguration"`
}

// Text is a message.
type Text struct {
	Text string `json:"text"`
}

// Help is a rule's help, plain and in Markdown.
type Help struct {
	Text     string `json:"text"`
	Markdown string `json:"markdown"`
}

// Configuration holds a rule's level.
type Configuration struct {
	Level string `json:"level"`
}

// Invocation says how the run went.
type Invocation struct {
	// Successful is false where something kept the check from running: the notifications say what.
	Successful    bool           `json:"executionSuccessful"`
	ExitCode      int            `json:"exitCode"`
	Notifications []Notification `json:"toolExecutionNotifications,omitempty"`
}

// Notification is an error without a place in the source.
type Notification struct {
	Level   string `json:"level"`
	Message Text   `json:"message"`
}

// Result is a finding.
type Result struct {
	RuleID       string            `json:"ruleId"`
	RuleIndex    int               `json:"ruleIndex"`
	Level        string            `json:"level"`
	Message      Text              `json:"message"`
	Locations    []Location        `json:"locations"`
	Related      []Location        `json:"relatedLocations,omitempty"`
	Fingerprints map[string]string `json:"partialFingerprints"`
}

// Location is a line of a file, in a kernel.
type Location struct {
	ID       int               `json:"id,omitempty"`
	Physical PhysicalLocation  `json:"physicalLocation"`
	Logical  []LogicalLocation `json:"logicalLocations,omitempty"`
	Message  *Text             `json:"message,omitempty"`
}

// PhysicalLocation is a line of a file.
type PhysicalLocation struct {
	Artifact ArtifactLocation `json:"artifactLocation"`
	Region   Region           `json:"region"`
}

// ArtifactLocation is a file, relative to the root of the repository, or a folder.
type ArtifactLocation struct {
	URI    string `json:"uri"`
	BaseID string `json:"uriBaseId,omitempty"`
}

// Region is a line.
type Region struct {
	StartLine int `json:"startLine"`
}

// LogicalLocation is a kernel.
type LogicalLocation struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
}

// Bytes is the file's contents.
func (l *Log) Bytes() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(l)
	return b.Bytes(), err
}
