package injection

// Wordings in lower case, single spaces around each word, no punctuation.

// markers are the marks of chat templates, and of our own, in raw text.
var markers = []string{"<|im_start|>", "<|system|>", "<|assistant|>", "[/inst]", "[inst]", "<<sys>>", "<system>", "</system>", "<system-reminder>", "### system:", "### instruction:",
	"<untrusted_tool_data", "</untrusted_tool_data", "<system-prompt>", "begin system prompt", "end of tool output", "end of tool result"}

var secrecy = []string{" do not tell the user ", " don t tell the user ", " do not inform the user ", " do not mention this ", " don t mention this ", " do not mention it ", " without telling the user ",
	" without informing the user ", " without asking the user ", " without the user s knowledge ", " without user s knowledge ", " do not let the user know ", " do not ask for confirmation ", " don t ask for confirmation ",
	" do not reveal these instructions ", " do not reveal this ", " hide this from the user ", " keep this secret from ", " the user must not know ", " do not show the user ", " the user does not need to know "}

var roles = []string{" you are now ", " you are no longer ", " from now on you ", " new system prompt ", " new instructions ", " updated instructions ", " your new task ", " your real task ", " your new goal ",
	" developer mode ", " jailbreak ", " act as an unrestricted ", " pretend you are ", " pretend to be ", " system override ", " admin override "}

var addresses = []string{" if you are an ai ", " if you are a language model ", " if you are an llm ", " if you re an ai ", " dear ai ", " attention ai ", " note to ai ", " note to the ai ", " notice to ai ", " message to ai ",
	" instructions for ai ", " instructions for the ai ", " instructions to ai ", " ai agents reading this ", " ai assistants reading this ", " ai agent reading this ", " attention assistant ", " attention claude ", " attention chatgpt ",
	" as an ai assistant you must ", " as an ai you must ", " hey claude ", " hey chatgpt ", " hello ai assistant ", " llms reading this ", " to any ai ", " to the assistant ", " important for ai "}

var demands = []string{" you must ", " you need to ", " you have to ", " you should now ", " run the following ", " run this command ", " execute the following ", " execute this ", " please run ", " please execute ",
	" call the tool ", " use the tool ", " use your tools ", " use the bash tool ", " use the shell tool ", " immediately run ", " immediately execute ", " before you continue ", " before continuing ", " before doing anything else ", " first run "}

// harms are demands that cannot be taken back.
var harms = []string{" rm rf ", " delete all files ", " delete every file ", " delete all the files ", " wipe the disk ", " drop table ", " drop database ", " format the disk ", " mkfs ", " force push ", " push force ",
	" authorized keys ", " crontab ", " disable the firewall ", " reverse shell ", " dev tcp ", " base64 d ", " base64 decode ", " chmod 777 ", " sudo "}

const (
	dropping  = " ignore ignoring disregard disregarding forget override overriding bypass discard abandon neglect "
	rulebooks = " instruction instructions prompt prompts rules guidelines directions directives constraints guardrails commands "
	whose     = " previous prior above earlier preceding all any your its system original existing other former initial safety everything "
	sending   = " send sends sending post posts upload uploads exfiltrate forward email mail leak transmit submit append encode include paste report share curl "
	precious  = " secret secrets token tokens password passwords credential credentials apikey apikeys cookies env environ ssh "
)

// overrides: ignore all previous instructions, in its many forms.
func overrides(words []string) bool {
	for i, w := range words {
		if !listed(dropping, w) {
			continue
		}
		named := false
		for _, v := range words[i+1 : min(len(words), i+8)] {
			if named && listed(rulebooks, v) {
				return true
			}
			named = named || listed(whose, v)
		}
	}
	return false
}

// leaks: something is to be sent, and it is precious.
func leaks(words []string) bool {
	if near(words, sending, precious, 12) {
		return true
	}
	return near(words, sending, " key keys ", 12) && near(words, " api private access ssh signing ", " key keys ", 1) ||
		near(words, sending, " variables ", 12) && near(words, " environment env ", " variables ", 1)
}

// fetchesAndRuns: a download into an interpreter.
func fetchesAndRuns(words []string) bool {
	return near(words, " curl wget iwr ", " sh bash zsh python python3 node perl iex ", 20)
}
