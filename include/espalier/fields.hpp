// SPDX-License-Identifier: MIT
/// @file
/// Part of espalier.hpp: what a program says of a type that it registers as a component.
///
/// Thread rule: as for any value: several threads may read an object while no thread writes it.
#ifndef ESPALIER_FIELDS_HPP
#define ESPALIER_FIELDS_HPP

#include <espalier/result.hpp>

#include <vector>

namespace espalier {

/// Specialize it, in the global namespace, for what world::register_component() shall say of a type beside
/// its size. Each member may be left out.
///
///     template <> struct espalier::component_traits<ammo> {
///         static constexpr std::uint32_t version = 2; // archives of another one need a migration
///         static constexpr std::uint32_t flags   = ESPL_COMPONENT_UNIQUE;
///         static auto fields()
///         {
///             return std::array{espalier::field("rounds", &ammo::rounds),
///                               espalier::field("carrier", &ammo::carrier)};
///         }
///     };
///
/// Fields whose elements are entities are the references of the component.
template <class T> struct component_traits {
};

namespace detail {
template <class Element> constexpr espl_field_type field_type() noexcept
{
    constexpr bool is_signed = std::is_signed_v<Element>;

    if constexpr (std::is_enum_v<Element> && !std::is_same_v<Element, std::byte>) {
        return field_type<std::underlying_type_t<Element>>();
    } else if constexpr (std::is_same_v<Element, espl_entity>) {
        return ESPL_FIELD_ENTITY;
    } else if constexpr (std::is_same_v<Element, char> || std::is_same_v<Element, std::byte>) {
        return ESPL_FIELD_BYTES;
    } else if constexpr (std::is_same_v<Element, bool>) {
        return ESPL_FIELD_BOOL;
    } else if constexpr (std::is_same_v<Element, float>) {
        return ESPL_FIELD_F32;
    } else if constexpr (std::is_same_v<Element, double>) {
        return ESPL_FIELD_F64;
    } else {
        static_assert(std::is_integral_v<Element> && sizeof(Element) <= 8,
                      "name the type of its elements: field(name, member, type, count)");
        return sizeof(Element) == 1   ? is_signed ? ESPL_FIELD_I8 : ESPL_FIELD_U8
               : sizeof(Element) == 2 ? is_signed ? ESPL_FIELD_I16 : ESPL_FIELD_U16
               : sizeof(Element) == 4 ? is_signed ? ESPL_FIELD_I32 : ESPL_FIELD_U32
               : is_signed            ? ESPL_FIELD_I64
                                      : ESPL_FIELD_U64;
    }
}

// What a member has one or more of.
template <class Member> struct element_of {
    using type = Member;
};
template <class Member, std::size_t N> struct element_of<Member[N]> : element_of<Member> {
};
template <class Member, std::size_t N>
struct element_of<std::array<Member, N>> : element_of<Member> {
};
} // namespace detail

/// Describe a member of a type, but none of its base classes, as a field of so many elements of a type.
template <class T, class Member>
espl_component_field field(const char *name, Member T::*member, espl_field_type type,
                           std::size_t count)
{
    const T whole{};
    const void *const begin = &whole, *const at = &(whole.*member);
    const auto offset = static_cast<const char *>(at) - static_cast<const char *>(begin);

    return {name, type, static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(count)};
}
/// Describe a member: a number, an enumerator, a bool or an entity, or an array of them, a std::array too.
/// Chars are text.
template <class T, class Member> espl_component_field field(const char *name, Member T::*member)
{
    using element = std::remove_cv_t<typename detail::element_of<Member>::type>;

    return field(name, member, detail::field_type<element>(), sizeof(Member) / sizeof(element));
}

namespace detail {
// What the traits of a type have.
template <class T, class = void> struct version_of {
    static constexpr bool is_given = false;
    static constexpr std::uint32_t value = 0;
};
template <class T> struct version_of<T, std::void_t<decltype(component_traits<T>::version)>> {
    static constexpr bool is_given = true;
    static constexpr std::uint32_t value = component_traits<T>::version;
};
template <class T, class = void> struct flags_of {
    static constexpr std::uint32_t value = 0;
};
template <class T> struct flags_of<T, std::void_t<decltype(component_traits<T>::flags)>> {
    static constexpr std::uint32_t value = component_traits<T>::flags;
};
template <class T, class = void> struct fields_of {
    static std::array<espl_component_field, 0> list() noexcept { return {}; }
};
template <class T> struct fields_of<T, std::void_t<decltype(component_traits<T>::fields())>> {
    static auto list() { return component_traits<T>::fields(); }
};

// Register a type as a component. Without `references` they are those of its fields.
template <class T>
espl_status register_type(espl_world *world, const char *name, span<const std::uint32_t> references,
                          espl_component *out)
{
    const auto fields = fields_of<T>::list();
    std::vector<std::uint32_t> entities;
    espl_component_def def{};

    for (const espl_component_field &each : fields) {
        for (std::uint32_t i = 0; each.type == ESPL_FIELD_ENTITY && i < each.count; ++i) {
            entities.push_back(each.offset + i * static_cast<std::uint32_t>(sizeof(entity)));
        }
    }
    if (references.empty()) {
        references = entities;
    }
    def.name = name;
    def.size = std::is_empty_v<T> ? 0 : sizeof(T);
    def.alignment = std::is_empty_v<T> ? 0 : alignof(T);
    def.references = references.data();
    def.reference_count = references.size();
    def.version = version_of<T>::value;
    def.flags = flags_of<T>::value;
    def.fields = fields.data();
    def.field_count = fields.size();
    return espl_component_register(world, &def, out);
}
} // namespace detail

} // namespace espalier

#endif
