#include "graph/passes/layout_builder.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "graph/fold/origin.h"

namespace rshift {
namespace {

Perm Iota(size_t rank) {
  Perm perm(rank);
  std::iota(perm.begin(), perm.end(), 0);
  return perm;
}

}  // namespace

LayoutBuilder::LayoutBuilder(const Graph& old)
    : old_(old),
      storage_of_(old.value_count(), -1),
      name_taken_(old.value_count(), false),
      maker_(old.value_count()) {
  new_.name = old.name;
  new_.sha256 = old.sha256;
  for (int i = 0; i < old.value_count(); ++i) {
    const Value& value = old.value(ValueId(i));
    RSHIFT_REQUIRE(value.layout == Layout::kPlain, ErrorCode::kInternal, "layout pass: value '",
                   value.name, "' is NHWC already; this is a bug in Rshift");
    names_.Reserve(value.name);
  }
  for (const Node& node : old.nodes()) {
    for (ValueId id : node.outputs) maker_[id.index()] = node.name;
  }
  for (ValueId id : old.inputs) new_.inputs.push_back(DefinePlain(id));
  for (int i = 0; i < old.value_count(); ++i) {
    if (old.value(ValueId(i)).is_constant()) DefinePlain(ValueId(i));
  }
}

void LayoutBuilder::NewStorage(ValueId id, Storage storage) {
  storage_of_[id.index()] = static_cast<int>(storages_.size());
  storages_.push_back(std::move(storage));
}

ElementOrder LayoutBuilder::ElementOrderOfPlain(ValueId id) const {
  return Normalize(OldShape(id), Iota(OldShape(id).size()));
}

std::string LayoutBuilder::TakeName(ValueId id, const char* suffix) {
  const std::string& name = old_.value(id).name;
  if (name_taken_[id.index()]) return names_.Take(name + suffix);
  name_taken_[id.index()] = true;
  return name;
}

ValueId LayoutBuilder::AddDerived(const std::string& base, Value value) {
  value.name = names_.Take(base);
  return new_.AddValue(std::move(value));
}

ValueId LayoutBuilder::AddNode(const std::string& name, Op op, std::vector<ValueId> inputs,
                               ValueId output) {
  new_.AddNode({name, std::move(op), std::move(inputs), {output}});
  return output;
}

ValueId LayoutBuilder::Define(ValueId id, const Perm& perm) {
  const bool nhwc = perm == kNhwcPerm;
  Value value = old_.value(id);
  const ElementOrder order = Normalize(value.shape, perm);
  const Shape memory = Permute(value.shape, perm);
  const bool plain = order == ElementOrderOfPlain(id) && memory == value.shape;
  value.shape = memory;  // exactly what the operator writes, dims of 1 included
  value.layout = nhwc ? Layout::kNhwc : Layout::kPlain;
  value.name =
      plain || nhwc ? TakeName(id, nhwc ? "__nhwc" : "__nchw") : names_.Take(value.name + "__nhwc");
  const ValueId made = new_.AddValue(std::move(value));
  NewStorage(id, {{made, order}});
  return made;
}

ValueId LayoutBuilder::DefinePlain(ValueId id) { return Define(id, Iota(OldShape(id).size())); }

ValueId LayoutBuilder::DefineLike(ValueId id, const Form& like) {
  Value value = old_.value(id);
  value.shape = new_.value(like.id).shape;
  value.layout = new_.value(like.id).layout;
  const std::string name = value.name + "__nhwc";
  const ValueId made = AddDerived(name, std::move(value));
  NewStorage(id, {{made, like.order}});
  return made;
}

void LayoutBuilder::AddReshape(ValueId from, const Node& node) {
  storage_of_[node.outputs[0].index()] = storage_of_[from.index()];
}

void LayoutBuilder::AddTranspose(ValueId from, const Node& node) {
  const Perm& perm = std::get<Transpose>(node.op).perm;
  const auto read = [&] {
    Storage storage;
    for (const Form& form : forms_of(from)) {
      const std::optional<ElementOrder> order = AfterTranspose(form.order, OldShape(from), perm);
      if (order) storage.push_back({form.id, *order});
    }
    return storage;
  };
  Storage storage = read();
  if (storage.empty()) {
    Plain(from);
    storage = read();
  }
  NewStorage(node.outputs[0], std::move(storage));
}

bool LayoutBuilder::IsFree(ValueId id, const ElementOrder& order) const {
  const Storage& forms = forms_of(id);
  return std::any_of(forms.begin(), forms.end(),
                     [&](const Form& form) { return form.order == order; });
}

bool LayoutBuilder::IsNhwcFree(ValueId id) const {
  return OldShape(id).size() == 4 && IsFree(id, Normalize(OldShape(id), kNhwcPerm));
}

bool LayoutBuilder::PrefersNhwc(ValueId id) const {
  if (!id.valid() || OldShape(id).size() != 4 || old_.value(id).is_constant()) return false;
  const Storage& forms = forms_of(id);
  const bool lives_there = std::any_of(forms.begin(), forms.end(), [&](const Form& form) {
    return new_.value(form.id).layout == Layout::kNhwc;
  });
  return lives_there && (IsNhwcFree(id) || !IsPlainFree(id));
}

ValueId LayoutBuilder::Plain(ValueId id) {
  if (!id.valid()) return id;
  return Get(id, OldShape(id), ElementOrderOfPlain(id), Layout::kPlain);
}

ValueId LayoutBuilder::NhwcAs(ValueId id, const Shape& shape) {
  if (!id.valid()) return id;
  return Get(id, Permute(shape, kNhwcPerm), Normalize(shape, kNhwcPerm), Layout::kNhwc);
}

ValueId LayoutBuilder::Get(ValueId id, const Shape& shape, const ElementOrder& order,
                           Layout layout) {
  const Form* best = nullptr;
  for (const Form& form : forms_of(id)) {
    if (form.order != order) continue;
    const Value& value = new_.value(form.id);
    if (value.shape == shape && value.layout == layout) return form.id;
    if (best == nullptr) best = &form;
  }
  const Form from = best != nullptr ? *best : Native(id);
  Value value = old_.value(id);
  value.shape = shape;
  value.layout = layout;
  value.quant = new_.value(from.id).quant;
  Form made = Materialize(id, from, order, std::move(value));
  AddForm(id, made);
  return made.id;
}

Form LayoutBuilder::Materialize(ValueId id, const Form& from, const ElementOrder& to, Value value) {
  const std::optional<ElementOrder> movement = MovementBetween(from.order, to);
  if (!movement) {  // the two orders cut across each other: two steps
    Plain(id);
    Form plain;
    for (const Form& form : forms_of(id)) {
      if (form.order.IsPlain()) plain = form;
    }
    return Materialize(id, plain, to, std::move(value));
  }
  const Value source = new_.value(from.id);
  const char* suffix = value.layout == Layout::kNhwc ? "__nhwc" : "__nchw";
  if (source.is_constant()) {
    if (!movement->IsPlain()) {
      auto data = std::make_shared<ConstantData>();
      data->bytes = PermuteBytes(source.constant->bytes, SizeOf(source.dtype), movement->dims,
                                 movement->perm);
      value.constant = std::move(data);
    } else {
      value.constant = source.constant;
    }
    value.origin =
        MoveOrigin(source, value.shape, [&](const std::vector<uint8_t>& bytes, size_t size) {
          return movement->IsPlain() ? bytes
                                     : PermuteBytes(bytes, size, movement->dims, movement->perm);
        });
    value.name = TakeName(id, suffix);
    return {new_.AddValue(std::move(value)), to};
  }
  value.name = TakeName(id, suffix);
  return {Emit(id, from, *movement, std::move(value)), to};
}

// Reshape, Transpose, or Reshape-Transpose-Reshape.
ValueId LayoutBuilder::Emit(ValueId id, const Form& from, const ElementOrder& movement,
                            Value value) {
  const std::string node = maker_[id.index()].empty() || value.name != old_.value(id).name
                               ? value.name
                               : maker_[id.index()];
  const Shape source = new_.value(from.id).shape;
  if (movement.IsPlain())
    return AddNode(node, Reshape{}, {from.id}, new_.AddValue(std::move(value)));
  if (const std::optional<Perm> perm = AsTranspose(movement, source, value.shape)) {
    return AddNode(node, Transpose{*perm}, {from.id}, new_.AddValue(std::move(value)));
  }
  Value view = value;
  view.layout = Layout::kPlain;
  ValueId current = from.id;
  const std::string base = value.name;
  const Shape moved = Permute(movement.dims, movement.perm);
  const bool reshape_after = moved != value.shape || value.layout != Layout::kPlain;
  const ValueId result = new_.AddValue(std::move(value));
  if (source != movement.dims || new_.value(current).layout != Layout::kPlain) {
    view.shape = movement.dims;
    current = AddNode(node + "__view", Reshape{}, {current}, AddDerived(base + "__view", view));
  }
  if (!reshape_after) return AddNode(node, Transpose{movement.perm}, {current}, result);
  view.shape = moved;
  current = AddNode(node + "__transpose", Transpose{movement.perm}, {current},
                    AddDerived(base + "__moved", view));
  return AddNode(node, Reshape{}, {current}, result);
}

Graph LayoutBuilder::Finish() {
  new_.output_names = old_.output_names;
  new_.output_cuts = old_.output_cuts;
  for (ValueId id : old_.outputs) new_.outputs.push_back(Plain(id));
  new_.RemoveUnused();
  return std::move(new_);
}

}  // namespace rshift
