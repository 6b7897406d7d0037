package lsp

import "encoding/json"

// The part of LSP 3.17 that the server speaks, and of 3.18 what clients have to offer first. Names are those of the protocol.

type (
	position struct {
		Line      int `json:"line"`
		Character int `json:"character"`
	}
	span struct {
		Start position `json:"start"`
		End   position `json:"end"`
	}
	location struct {
		URI   string `json:"uri"`
		Range span   `json:"range"`
	}
	textDocument struct {
		URI     string `json:"uri"`
		Version int    `json:"version,omitempty"`
	}
	positionParams struct {
		TextDocument textDocument `json:"textDocument"`
		Position     position     `json:"position"`
		Context      struct {
			IncludeDeclaration bool `json:"includeDeclaration"`
		} `json:"context"`
		NewName string `json:"newName"`
		Query   string `json:"query"`
		Range   span   `json:"range"`
		Ranges  []span `json:"ranges"`
	}
	textEdit struct {
		Range   span   `json:"range"`
		NewText string `json:"newText"`
	}
	workspaceEdit struct {
		Changes   map[string][]textEdit `json:"changes,omitempty"`
		Documents []documentChange      `json:"documentChanges,omitempty"` // in the place of Changes, with versions, for clients that take it
	}
	documentChange interface{ changesDocuments() } // a createFile or a documentEdit
	createFile     struct {
		Kind string `json:"kind"` // create
		URI  string `json:"uri"`
	}
	documentEdit struct {
		TextDocument versioned  `json:"textDocument"`
		Edits        []textEdit `json:"edits"`
	}
	versioned struct {
		URI     string `json:"uri"`
		Version *int   `json:"version"` // null: it is not open
	}
)

func (createFile) changesDocuments()   {}
func (documentEdit) changesDocuments() {}

type initializeParams struct {
	RootURI          *string `json:"rootUri"`
	RootPath         *string `json:"rootPath"`
	WorkspaceFolders []struct {
		URI string `json:"uri"`
	} `json:"workspaceFolders"`
	Capabilities struct {
		General struct {
			PositionEncodings []string `json:"positionEncodings"`
		} `json:"general"`
		Workspace struct {
			TextDocumentContent *struct{} `json:"textDocumentContent"` // LSP 3.18
			WorkspaceEdit       struct {
				Versions  bool     `json:"documentChanges"`
				Resources []string `json:"resourceOperations"`
			} `json:"workspaceEdit"`
		} `json:"workspace"`
		TextDocument struct {
			CodeAction struct {
				Data    bool `json:"dataSupport"`
				Resolve struct {
					Properties []string `json:"properties"`
				} `json:"resolveSupport"`
			} `json:"codeAction"`
			RangeFormatting struct {
				Ranges bool `json:"rangesSupport"` // LSP 3.18
			} `json:"rangeFormatting"`
		} `json:"textDocument"`
	} `json:"capabilities"`
	Options struct {
		Commands []string `json:"commands"`
		Hints    hints    `json:"hints"`
	} `json:"initializationOptions"`
}

type openParams struct {
	TextDocument struct {
		URI     string `json:"uri"`
		Version int    `json:"version"`
		Text    string `json:"text"`
	} `json:"textDocument"`
}

type changeParams struct {
	TextDocument   textDocument `json:"textDocument"`
	ContentChanges []change     `json:"contentChanges"`
}

// A change without a range is the entire text.
type change struct {
	Range *span  `json:"range"`
	Text  string `json:"text"`
}

type watchedParams struct {
	Changes []struct {
		URI string `json:"uri"`
	} `json:"changes"`
}

type publishParams struct {
	URI         string       `json:"uri"`
	Version     *int         `json:"version,omitempty"`
	Diagnostics []diagnostic `json:"diagnostics"`
}

type diagnostic struct {
	Range           span             `json:"range"`
	Severity        int              `json:"severity"` // 1 error, 2 warning, 3 information
	Code            string           `json:"code"`
	CodeDescription *codeDescription `json:"codeDescription,omitempty"`
	Source          string           `json:"source"`
	Message         string           `json:"message"`
	Tags            []int            `json:"tags,omitempty"`
	Related         []related        `json:"relatedInformation,omitempty"`
}

type codeDescription struct {
	Href string `json:"href"`
}

type related struct {
	Location location `json:"location"`
	Message  string   `json:"message"`
}

type codeActionParams struct {
	TextDocument textDocument `json:"textDocument"`
	Range        span         `json:"range"`
	Context      struct {
		Only []string `json:"only"`
	} `json:"context"`
}

type codeAction struct {
	Title       string         `json:"title"`
	Kind        string         `json:"kind"`
	Diagnostics []diagnostic   `json:"diagnostics,omitempty"`
	Preferred   bool           `json:"isPreferred,omitempty"`
	Edit        *workspaceEdit `json:"edit,omitempty"`
	Data        *actionData    `json:"data,omitempty"`
}

type symbol struct {
	Name      string   `json:"name"`
	Detail    string   `json:"detail,omitempty"`
	Kind      int      `json:"kind"`
	Range     span     `json:"range"`
	Selection span     `json:"selectionRange"`
	Children  []symbol `json:"children,omitempty"`
}

type workspaceSymbol struct {
	Name      string   `json:"name"`
	Kind      int      `json:"kind"`
	Location  location `json:"location"`
	Container string   `json:"containerName,omitempty"`
}

type semanticTokens struct {
	Data []int `json:"data"`
}

type foldingRange struct {
	StartLine int `json:"startLine"`
	EndLine   int `json:"endLine"`
}

type markup struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

type hover struct {
	Contents markup `json:"contents"`
	Range    span   `json:"range"`
}

type highlight struct {
	Range span `json:"range"`
	Kind  int  `json:"kind"` // 2 read, 3 write
}

type completionList struct {
	Incomplete bool             `json:"isIncomplete"`
	Items      []completionItem `json:"items"`
}

type completionItem struct {
	Label         string    `json:"label"`
	Kind          int       `json:"kind,omitempty"`
	Detail        string    `json:"detail,omitempty"`
	Documentation *markup   `json:"documentation,omitempty"`
	SortText      string    `json:"sortText,omitempty"`
	FilterText    string    `json:"filterText,omitempty"`
	TextEdit      *textEdit `json:"textEdit,omitempty"`
}

type documentLink struct {
	Range  span   `json:"range"`
	Target string `json:"target"`
}

type inlayHint struct {
	Position position `json:"position"`
	Label    string   `json:"label"`
	Kind     int      `json:"kind"` // 1 type
	Left     bool     `json:"paddingLeft"`
	Tooltip  string   `json:"tooltip,omitempty"`
}

type renameRange struct {
	Range       span   `json:"range"`
	Placeholder string `json:"placeholder"`
}

// Codes of errors of the protocol.
const (
	codeInvalidParams  = -32602
	codeNotFound       = -32601
	codeInternal       = -32603
	codeNotInitialized = -32002
	codeInvalidRequest = -32600
	codeCancelled      = -32800
	codeRefused        = -32803
	codeModified       = -32801
)

// refusal is an answer that says why there is none.
type refusal struct {
	code    int64
	message string
}

func (r refusal) Error() string { return r.message }

// decode reads parameters. Absent ones are those of the zero value.
func decode[T any](params *json.RawMessage) (v T, err error) {
	if params == nil {
		return v, nil
	}
	if err := json.Unmarshal(*params, &v); err != nil {
		return v, refusal{codeInvalidParams, err.Error()}
	}
	return v, nil
}
