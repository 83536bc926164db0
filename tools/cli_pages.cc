#include "tools/cli_pages.h"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <vector>

#include "base/version.h"

namespace rshift {
namespace {

// A line of troff text: no character of it is a request.
std::string Troff(const std::string& text) {
  std::string out;
  if (text.starts_with('.') || text.starts_with('\'')) out = "\\&";
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else {
      if (c == '-') out += '\\';
      out += c;
    }
  }
  return out;
}

// Lines as they are.
std::string Verbatim(const std::string& text) {
  std::istringstream lines(text);
  std::string out = ".nf\n";
  for (std::string line; std::getline(lines, line);) {
    const size_t start = line.find_first_not_of(' ');
    out += (start == std::string::npos ? "" : Troff(line.substr(start))) + "\n";
  }
  return out + ".fi\n";
}

// "TEXT:{a,b}" -> a, b; none where any text may come.
std::vector<std::string> Choices(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const size_t open = type.find('{'), close = type.find('}', open);
  std::vector<std::string> choices;
  if (open == std::string::npos || close == std::string::npos) return choices;
  std::istringstream words(type.substr(open + 1, close - open - 1));
  for (std::string word; std::getline(words, word, ',');) choices.push_back(word);
  return choices;
}

// Spelled as users type them, short ones first.
std::vector<std::string> Names(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

// "--mode a|b", "-o, --output TEXT", "model".
std::string Term(const CLI::Option& option) {
  if (option.get_positional()) return "\\fI" + Troff(option.get_name(true)) + "\\fR";
  std::string term;
  for (const std::string& name : Names(option)) {
    term += (term.empty() ? "\\fB" : ", \\fB") + Troff(name) + "\\fR";
  }
  if (option.get_items_expected_max() == 0) return term;
  std::string value;
  for (const std::string& choice : Choices(option)) value += (value.empty() ? "" : "|") + choice;
  if (value.empty()) value = option.get_type_name().substr(0, option.get_type_name().find(':'));
  return term + " \\fI" + Troff(value) + "\\fR";
}

std::string OptionList(const CLI::App& app) {
  std::string out;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    out += ".TP\n" + Term(*option) + "\n" + Troff(option->get_description());
    out += option->get_required() && !option->get_positional() ? " (required)\n" : "\n";
  }
  return out;
}

std::string Synopsis(const CLI::App& app) {
  std::string out = "\\fB" + Troff(app.get_name()) + "\\fR";
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) out += " " + Term(*option);
  }
  const bool commands = !app.get_subcommands(nullptr).empty();
  return out + (commands ? " \\fIcommand\\fR" : "") + " [\\fIoptions\\fR]\n";
}

// A footer of SetUpApp or of a subcommand, without its title.
std::string Examples(const std::string& footer) {
  constexpr const char* kTitle = "Examples:\n";
  const size_t start = footer.find(kTitle);
  if (start == std::string::npos) return "";
  const size_t end = footer.find("\nExit codes: ", start);
  const size_t text = start + std::string(kTitle).size();
  return Verbatim(footer.substr(text, end == std::string::npos ? end : end - text));
}

std::string Section(const std::string& title, const std::string& text) {
  return text.empty() ? "" : ".SH " + title + "\n" + text;
}

std::string Commands(const CLI::App& app) {
  std::string out;
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    out += ".SS " + Troff(command->get_name()) + "\n" + Troff(command->get_description()) + "\n";
    out += ".PP\n\\fB" + Troff(app.get_name()) + "\\fR " + Synopsis(*command);
    out += OptionList(*command) + ".PP\n" + Examples(command->get_footer());
  }
  return out;
}

// The words of "-o --output --mode" for compgen.
std::string OptionWords(const CLI::App& app) {
  std::string words;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    for (const std::string& name : Names(*option)) words += (words.empty() ? "" : " ") + name;
  }
  return words;
}

// "      --mode) words='a b' ;;", one for each option with a list of words.
std::string ChoiceCases(const CLI::App& app, const std::string& indent) {
  std::string out;
  for (const CLI::Option* option : app.get_options()) {
    std::string choices, names;
    for (const std::string& choice : Choices(*option))
      choices += (choices.empty() ? "" : " ") + choice;
    for (const std::string& name : Names(*option)) names += (names.empty() ? "" : "|") + name;
    if (!choices.empty() && !names.empty())
      out += indent + names + ") words='" + choices + "' ;;\n";
  }
  return out;
}

// A `case` over the word before the cursor; options where the one under it begins with a dash.
std::string CompletionOf(const CLI::App& app, const std::string& indent) {
  const std::string cases = ChoiceCases(app, indent + "  ");
  std::string out = indent + "[[ $current == -* ]] && words='" + OptionWords(app) + "'\n";
  if (!cases.empty()) out += indent + "case $previous in\n" + cases + indent + "esac\n";
  return out;
}

}  // namespace

std::string ManPage(const CLI::App& app) {
  std::string title = app.get_name();
  std::transform(title.begin(), title.end(), title.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  std::string page = ".TH " + title + " 1 \"\" \"" + Version() + "\" \"Rshift\"\n.ad l\n";
  page += Section("NAME", Troff(app.get_name()) + " \\- " + Troff(app.get_description()) + "\n");
  page += Section("SYNOPSIS", Synopsis(app));
  page += Section("OPTIONS", OptionList(app));
  page += Section("COMMANDS", Commands(app));
  page += Section("EXAMPLES", Examples(app.get_footer()));
  const size_t codes = app.get_footer().find("Exit codes: ");
  if (codes != std::string::npos) {
    page += Section("EXIT STATUS", Troff(app.get_footer().substr(codes + 12)) + "\n");
  }
  return page;
}

std::string BashCompletion(const CLI::App& app) {
  const std::string& name = app.get_name();
  std::string out = "_" + name + "() {\n";
  out +=
      "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} words=''\n";
  std::string commands;
  for (const CLI::App* command : app.get_subcommands(nullptr))
    commands += (commands.empty() ? "" : " ") + command->get_name();
  if (commands.empty()) {
    out += CompletionOf(app, "  ");
  } else {
    out += "  if ((COMP_CWORD == 1)); then\n    words='" + commands + " " + OptionWords(app) +
           "'\n  else\n    case ${COMP_WORDS[1]} in\n";
    for (const CLI::App* command : app.get_subcommands(nullptr)) {
      out += "      " + command->get_name() + ")\n" + CompletionOf(*command, "        ") +
             "        ;;\n";
    }
    out += "    esac\n  fi\n";
  }
  return out + "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n}\n" +
         "complete -o default -F _" + name + " " + name + "\n";
}

}  // namespace rshift
